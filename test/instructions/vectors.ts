import {
  type Candidate,
  elementType,
  instructionSet,
  type OpcodeProblem,
  type OperandRule,
  type ResolvedOperand,
} from "../../src/ptx/isa/index.ts";
import { type Expr, fold, kit, type Value } from "../../src/semantics/index.ts";

/** One line of a `.vectors` file. */
export interface Vector {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly origin: string;
  readonly opcode: string;
  readonly operands: readonly string[];
  readonly results: readonly string[];
}

const words = (text: string): string[] => text.match(/\{[^}]*\}|\S+/g) ?? [];

/**
 * Parses a `.vectors` file, with one case per line: `OPCODE operands = results`. Values are bit patterns (0x...),
 * integers, or floats for float operands (1.5, -0.0, inf, nan; `nan` as a result is the type's canonical NaN). `{a, b}`
 * is a vector. `carry:1` before the `=` sets CC.CF, after it expects it. `0x1234.b1` selects a part of an operand or,
 * as a result, of the destination; `neg:5` is an operand with a minus sign. Each group begins with the origin of its
 * expectations: `## manual 9.7...`.
 */
export function parseVectors(file: string, text: string): Vector[] {
  let origin = "";
  return text.split("\n").flatMap((raw, i) => {
    if (raw.startsWith("## ")) origin = raw.slice(3).trim();
    const line = raw.replace(/#.*$/, "").trim();
    if (line === "") return [];
    const [left = "", right = ""] = line.split(" = ");
    const [opcode = "", ...operands] = words(left);
    if (origin === "") throw new Error(`${file}:${i + 1}: a vector needs an origin (a line that starts with "## ")`);
    return [{ file, line: i + 1, text: line, origin, opcode, operands, results: words(right) }];
  });
}

const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);
const f64 = new Float64Array(1);
const u64 = new BigUint64Array(f64.buffer);

/** The bits of a written value, as a value of the rule's type. */
export function bitsOf(word: string, rule: OperandRule): bigint {
  const bits = rule.type?.bits ?? 32;
  if (/^-?(0x[0-9a-f]+|\d+)$/i.test(word)) {
    const negative = word.startsWith("-");
    const magnitude = BigInt(negative ? word.slice(1) : word);
    return BigInt.asUintN(bits === 1 ? 1 : bits, negative ? -magnitude : magnitude);
  }
  const value =
    word === "nan" ? NaN : word.endsWith("inf") ? (word.startsWith("-") ? -Infinity : Infinity) : Number(word);
  if (rule.type?.name === "f32") {
    f32[0] = value;
    return Number.isNaN(value) ? 0x7fff_ffffn : BigInt(u32[0]!);
  }
  if (rule.type?.name === "f64") {
    f64[0] = value;
    return Number.isNaN(value) ? 0x7ff8_0000_0000_0000n : u64[0]!;
  }
  throw new Error(`write "${word}" as a bit pattern`);
}

function sourceOf(word: string, rule: OperandRule): Expr {
  const bits = bitsOf(word, rule);
  const type = rule.type;
  if (type?.kind === "pred") return kit.pred(bits !== 0n);
  if (type?.name === "f32") {
    u32[0] = Number(bits);
    // A constant does not keep a NaN's payload, so its bits are reinterpreted.
    return Number.isNaN(f32[0]!) ? kit.op("f32.reinterpret_i32", kit.i32(Number(bits))) : kit.f32(f32[0]!);
  }
  if (type?.name === "f64") {
    u64[0] = bits;
    return Number.isNaN(f64[0]!) ? kit.op("f64.reinterpret_i64", kit.i64(bits)) : kit.f64(f64[0]!);
  }
  if ((type?.bits ?? 32) > 32) return kit.i64(bits);
  const size = type?.bits ?? 32;
  return kit.i32(Number(type?.kind === "s" ? BigInt.asIntN(size, bits) : bits));
}

/** The bits of a result, as many as its type has. */
function patternOf(expr: Expr, rule: OperandRule): bigint {
  const value: Value = fold(expr, (leaf) => {
    // The number that makes the address in a window generic, from ir/address-map.ts, with 64-bit addresses.
    if (leaf.kind === "special" && leaf.name === "window") return 0x7f10_0000_0000n;
    // The block is alone in its cluster.
    if (leaf.kind === "special" && leaf.name === "cluster_ctarank") return 0;
    if (leaf.kind === "special" && leaf.name === "cluster_nctarank") return 1;
    throw new Error("a leaf that is not a constant");
  });
  const bits = rule.type?.bits ?? 32;
  if (expr.ty === "pred") return value ? 1n : 0n;
  if (expr.ty === "f32") {
    f32[0] = value as number;
    return Number.isNaN(value as number) ? 0x7fff_ffffn : BigInt(u32[0]!);
  }
  if (expr.ty === "f64") {
    f64[0] = value as number;
    return Number.isNaN(value as number) ? 0x7ff8_0000_0000_0000n : u64[0]!;
  }
  return BigInt.asUintN(bits, BigInt(value as number | bigint));
}

const isList = (r: unknown): r is readonly Expr[] => Array.isArray(r);
export const elements = (word: string): string[] =>
  word.startsWith("{")
    ? word
        .slice(1, -1)
        .split(",")
        .map((w) => w.trim())
    : [word];
/** The rule of one of `count` elements. */
export const elementRule = (rule: OperandRule, count: number): OperandRule => ({
  ...rule,
  type: elementType(rule, count),
});

/** The values of an operand: its elements, or the two halves of a 128-bit value. */
function sourcesOf(word: string, rule: OperandRule): Expr[] {
  const list = elements(word);
  const each = elementRule(rule, list.length);
  if (each.type?.bits !== 128) return list.map((w) => sourceOf(w, each));
  const bits = bitsOf(word, each);
  return [kit.i64(bits), kit.i64(bits >> 64n)];
}

/** The bits of an operand's elements; a 128-bit value is joined from its halves. */
function patternsOf(list: readonly Expr[], rule: OperandRule): bigint[] {
  if (rule.type?.bits !== 128) return list.map((e) => patternOf(e, rule));
  const [low, high] = list.map((e) => BigInt.asUintN(64, patternOf(e, rule)));
  return [low! | (high! << 64n)];
}

/** The value alone: without the selector of `0x1234.b1`, and without the minus sign of the instruction in `neg:5`. */
export const plain = (word: string): string => word.replace(/^neg:/, "").replace(/\.[bh]\d+$/, "");
export const selectorOf = (word: string | undefined): string | null => /\.([bh]\d+)$/.exec(word ?? "")?.[1] ?? null;
const hex = (v: bigint) => `0x${v.toString(16)}`;

export const isCarry = (word: string): boolean => word.startsWith("carry:");

/** Whether a value fits an operand. It tells forms apart that differ only in the width of an operand. */
const isWideEnough = (rule: OperandRule, word: string): boolean =>
  !/^0x[0-9a-f]+$/i.test(word) || BigInt(word) < 1n << BigInt(rule.type?.bits ?? 64);

/**
 * An operand as a vector has it, as far as it tells forms apart: its number of elements, and whether a rule takes it.
 */
export interface WrittenOperand {
  readonly count: number;
  readonly fits: (rule: OperandRule) => boolean;
}

function problemText(problem: OpcodeProblem): string {
  switch (problem.kind) {
    case "unknown-opcode":
      return `there is no "${problem.root}"`;
    case "modifier":
      return `".${problem.modifier}" does not fit`;
    case "missing-modifier":
      return `"${problem.missing}" is missing`;
    case "invalid-combination":
      return problem.reason;
  }
}

/**
 * The sources that so many operands stand for: the last of the optional ones are left out. Null: they cannot be so
 * many.
 */
export function sourcesFor(candidate: Candidate, count: number): readonly ResolvedOperand[] | null {
  const sources = candidate.operands.filter((o) => !o.destination);
  while (sources.length > count) {
    const at = sources.findLastIndex((o) => o.optional);
    if (at < 0) return null;
    sources.splice(at, 1);
  }
  return sources.length === count ? sources : null;
}

/** The first form whose modifiers are those of the opcode and that takes these sources. Or why there is none. */
export function formFor(opcode: string, operands: readonly WrittenOperand[]): Candidate | string {
  const { candidates, problem } = instructionSet.resolve(opcode);
  if (problem !== null) return `no such form: ${problemText(problem)}`;
  const fits = (c: Candidate): boolean => {
    const sources = sourcesFor(c, operands.length);
    return (
      sources !== null &&
      operands.every(({ count, fits }, i) => sources[i]!.rule.counts.includes(count) && fits(sources[i]!.rule))
    );
  };
  return candidates.find(fits) ?? "no form takes these operands";
}

/** The form that a vector is about. Or why there is none. */
export const formOf = ({ opcode, operands }: Vector): Candidate | string =>
  formFor(
    opcode,
    operands
      .filter((w) => !isCarry(w))
      .map(plain)
      .map((word) => ({ count: elements(word).length, fits: (rule) => isWideEnough(rule, word) })),
  );

/** Evaluates one vector through its row's semantics. Returns null when it holds, else what differs. */
export function runVector(vector: Vector): string | null {
  const carryIn = vector.operands.find(isCarry);
  const written = vector.operands.filter((w) => !isCarry(w));
  const operands = written.map(plain);
  const candidate = formOf(vector);
  if (typeof candidate === "string") return candidate;
  const { form, mods } = candidate;
  if (!form.sem) return `not executable: ${form.unimplemented ?? "an effect"}`;
  const named = new Map<string, Expr[]>();
  const rules = new Map<string, OperandRule>();
  candidate.operands
    .filter((o) => !o.destination)
    .forEach((o, i) => {
      if (operands[i] !== undefined) named.set(o.name, sourcesOf(operands[i]!, o.rule));
    });
  for (const o of candidate.operands) {
    rules.set(o.name, o.rule);
    if (o.second && o.secondRule) rules.set(o.second.name, o.secondRule);
  }
  const src = Object.fromEntries([...named].map(([name, list]) => [name, list[0]!]));
  const words = new Map<string, string>();
  let nextSource = 0;
  let nextResult = 0;
  for (const o of candidate.operands)
    words.set(o.name, (o.destination ? vector.results[nextResult++] : written[nextSource++]) ?? "");
  const first = candidate.operands.find((o) => o.destination);
  const result = form.sem(kit, src, mods, {
    vector: (name) => named.get(name) ?? [],
    present: (name) => named.get(name) ?? [],
    previous: () => [],
    has: (name) => named.has(name),
    constant: (name) => {
      const e = named.get(name)?.[0];
      return e?.kind === "const" && typeof e.value !== "boolean" ? e.value : null;
    },
    width: (name) => rules.get(name)?.type?.bits ?? 32,
    count: () => elements(vector.results[0] ?? "").length,
    selector: (name) => selectorOf(words.get(name)),
    negated: (name) => words.get(name)?.startsWith("neg:") ?? false,
    carry: kit.pred(carryIn === "carry:1"),
    destinations: () => [],
    temporary: (index) => ({ register: index, value: kit.i32(0) }),
    sm: 90,
  });
  const byName: Record<string, Expr | readonly Expr[]> =
    "kind" in result ? { [first!.name]: result as Expr } : (result as Record<string, Expr>);
  const order = candidate.operands
    .filter((o) => o.destination)
    .flatMap((o) => (o.second ? [o.name, o.second.name] : [o.name]));
  const got: string[] = [];
  const want: string[] = [];
  vector.results.forEach((word, i) => {
    if (isCarry(word)) {
      want.push(word);
      got.push(`carry:${patternOf(byName["carry"] as Expr, { ...rules.get(first!.name)! })}`);
      return;
    }
    const name = order[i]!;
    const rule = rules.get(name)!;
    const value = byName[name]!;
    const wanted = elements(plain(word));
    const each = elementRule(rule, wanted.length);
    const patterns = patternsOf(isList(value) ? value : [value as Expr], each);
    wanted.forEach((w, j) => {
      want.push(hex(bitsOf(w, each)));
      got.push(j < patterns.length ? hex(patterns[j]!) : "nothing");
    });
  });
  return got.join(" ") === want.join(" ") ? null : `got ${got.join(" ")}, want ${want.join(" ")}`;
}
