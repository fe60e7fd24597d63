import { type TypeInfo, typeInfo } from "../types.ts";

/** What an operand may be, once the modifiers have been chosen. */
export interface OperandRule {
  /**
   * `value`: a register or immediate; `address`: an address in brackets; `name`: a symbol checked elsewhere; `any`:
   * unchecked.
   */
  readonly shape: "value" | "address" | "name" | "any";
  /** The type of a `value`, else null. */
  readonly type: TypeInfo | null;
  readonly immediate: "allowed" | "only" | "never";
  /** The smallest and largest value of an immediate, or null. A float must be greater than the smallest. */
  readonly range: readonly [number, number] | null;
  /** The only values that an immediate may have. */
  readonly values?: readonly number[] | undefined;
  /** What an immediate must be a multiple of. */
  readonly multiple?: number | undefined;
  /** The allowed numbers of elements; 1 is a scalar. */
  readonly counts: readonly number[];
  /** Whether a vector needs braces; around a single element they may be optional. */
  readonly braces?: "required" | "optional" | undefined;
  /** Whether a vector's elements share the bits of the type (`mov.b64 d, {lo, hi}`) instead of each having the type. */
  readonly split: boolean;
  /** Whether elements of a vector of sources may be left out: `_`. */
  readonly sinks?: boolean | undefined;
  /** Whether the result cannot be kept: only `_` stands for it. */
  readonly sink?: boolean | undefined;
  /**
   * The state space of an address, if it is not the one that the opcode names; "any" is not checked. "tensor" is an
   * address of 32 bits in tensor memory, "handle" a texture or a surface.
   */
  readonly space?: string | undefined;
}

/** The type of each of `count` elements; null if there is none, as for an address. */
export function elementType(rule: OperandRule, count: number): TypeInfo | null {
  return rule.split && count > 1 && rule.type ? typeInfo(`b${rule.type.bits / count}`) : rule.type;
}

const related = (t: TypeInfo, bits: number): TypeInfo | null =>
  typeInfo(t.kind === "f" && bits === 16 ? "f16" : `${t.kind}${bits}`);

/**
 * Parses the small language of `OperandSpec`. `choice` returns the chosen modifier of a class, or undefined. Throws on
 * a malformed spec, which is a mistake in a row that the tests of the table find.
 */
export function parseOperandSpec(spec: string, choice: (name: string) => string | undefined): OperandRule {
  let rest = spec.trim();
  const [shape = "", space] = rest.split(" ");
  if (shape === "address" || shape === "name" || shape === "any") {
    return { shape, type: null, immediate: "never", range: null, counts: [1], split: false, space };
  }
  const sink = rest.startsWith("sink ");
  if (sink) rest = rest.slice("sink ".length);
  const sinks = rest.startsWith("sinks ");
  if (sinks) rest = rest.slice("sinks ".length);
  let immediate: OperandRule["immediate"] = "allowed";
  if (rest.startsWith("reg ")) {
    immediate = "never";
    rest = rest.slice(4);
  } else if (rest.startsWith("imm ")) {
    immediate = "only";
    rest = rest.slice(4);
  }
  let multiple: number | undefined;
  const stepped = /^(.*) multiple (\d+)$/.exec(rest);
  if (stepped) {
    rest = stepped[1]!;
    multiple = Number(stepped[2]);
  }
  let range: OperandRule["range"] = null;
  const ranged = /^(.*) (-?\d+)\.\.(-?\d+)$/.exec(rest);
  if (ranged) {
    rest = ranged[1]!;
    range = [Number(ranged[2]), Number(ranged[3])];
  }
  let values: OperandRule["values"];
  const listed = /^(.*) (-?\d+(?:\|-?\d+)+)$/.exec(rest);
  if (listed) {
    rest = listed[1]!;
    values = listed[2]!.split("|").map(Number);
  }
  let counts: readonly number[] = [1];
  let braces: OperandRule["braces"];
  const vector = /^(.*)\[([^\]]*)\]$/.exec(rest);
  if (vector) {
    rest = vector[1]!;
    const inside = vector[2]!;
    if (/^[\d,]+$/.test(inside)) {
      counts = inside.split(",").map(Number);
      braces = "required";
    } else {
      const chosen = choice(inside.replace("?", ""));
      if (chosen !== undefined) braces = "required";
      else if (inside.endsWith("?")) braces = "optional";
      counts = [chosen === undefined ? 1 : Number(chosen.replace(/^[^\d]*/, "")) || 1];
    }
  }
  const [word, name] = rest.includes(" ") ? (rest.split(" ") as [string, string]) : [null, rest];
  let type = typeInfo(choice(name) ?? name);
  if (type === null) throw new Error(`operand spec "${spec}": no type "${choice(name) ?? name}"`);
  if (word === "wide") type = related(type, type.bits * 2);
  else if (word === "half") type = related(type, type.bits / 2);
  else if (word === "bits") type = typeInfo(`b${type.bits}`);
  else if (word !== null && word !== "split") throw new Error(`operand spec "${spec}": unknown word "${word}"`);
  if (type === null) throw new Error(`operand spec "${spec}": there is no such type`);
  return {
    shape: "value",
    type,
    immediate,
    range,
    values,
    multiple,
    counts,
    braces,
    split: word === "split",
    sinks,
    sink,
  };
}
