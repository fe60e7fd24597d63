import { type TypeInfo, typeInfo } from "../types.ts";

/** What an operand may be, after the form's classes have been chosen. */
export interface OperandRule {
  /** `value`: registers, immediates; `address`: brackets; `name`: a symbol checked elsewhere; `any`: unchecked. */
  readonly shape: "value" | "address" | "name" | "any";
  readonly type: TypeInfo | null;
  readonly immediate: "allowed" | "only" | "never";
  readonly range: readonly [number, number] | null;
  /** Numbers of elements that are allowed; a vector of one element is a scalar. */
  readonly counts: readonly number[];
  /** `split`: a vector's elements share the type's bits (`mov.b64 d, {lo, hi}`), instead of having the type each. */
  readonly split: boolean;
}

/** The type of each of `count` elements. */
export function elementType(rule: OperandRule, count: number): TypeInfo | null {
  return rule.split && count > 1 && rule.type ? typeInfo(`b${rule.type.bits / count}`) : rule.type;
}

const related = (t: TypeInfo, bits: number): TypeInfo | null =>
  typeInfo(t.kind === "f" && bits === 16 ? "f16" : `${t.kind}${bits}`);

/**
 * Understands the small language of `OperandSpec` (see define.ts). `choice` gives the chosen modifier of a class, or
 * undefined. Throws on a spec that is not well formed: that is a mistake in a row, and the table's test finds it.
 */
export function parseOperandSpec(spec: string, choice: (name: string) => string | undefined): OperandRule {
  let rest = spec.trim();
  if (rest === "address" || rest === "name" || rest === "any") {
    return { shape: rest, type: null, immediate: "never", range: null, counts: [1], split: false };
  }
  let immediate: OperandRule["immediate"] = "allowed";
  if (rest.startsWith("reg ")) {
    immediate = "never";
    rest = rest.slice(4);
  } else if (rest.startsWith("imm ")) {
    immediate = "only";
    rest = rest.slice(4);
  }
  let range: OperandRule["range"] = null;
  const ranged = /^(.*) (-?\d+)\.\.(-?\d+)$/.exec(rest);
  if (ranged) {
    rest = ranged[1]!;
    range = [Number(ranged[2]), Number(ranged[3])];
  }
  let counts: readonly number[] = [1];
  const vector = /^(.*)\[([^\]]*)\]$/.exec(rest);
  if (vector) {
    rest = vector[1]!;
    const inside = vector[2]!;
    if (/^[\d,]+$/.test(inside)) counts = inside.split(",").map(Number);
    else {
      const chosen = choice(inside);
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
  return { shape: "value", type, immediate, range, counts, split: word === "split" };
}
