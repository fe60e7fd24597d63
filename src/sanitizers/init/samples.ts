import { type Expr, type PrimName, primOf, type Value } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";

/*
 * Determines whether a value depends on undefined bits, by evaluating an expression with several fillings of them, the
 * same filling for the same place. Bits of the result that differ depend on undefined bits, with the fillings as a
 * witness. Bits that do not differ count as defined, as in `x ^ x`, `x & 0`, or a selection of the other side.
 * Comparisons are an exception: that no filling happens to make two numbers equal says little, so the result counts as
 * undefined if some filling may change it. The same holds for conversions of numbers that are out of range.
 */

/** The number of fillings. The first is what the machine holds, the second has all undefined bits flipped. */
export const sampleCount = 6;

/** The value for each filling; a single one if it does not depend on undefined bits. */
export type Samples = readonly Value[];

/** The bits to flip in word `key` of the undefined places for filling `s`. */
export function filling(key: number, s: number): number {
  if (s < 2) return -s;
  let h = Math.imul(key + 1, 0x9e37_79b1) ^ Math.imul(s, 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 16), 0x7feb_352d);
  h = Math.imul(h ^ (h >>> 15), 0x846c_a68b);
  return h ^ (h >>> 16);
}

export function sample(
  expr: Expr,
  leaf: (leaf: Exclude<Expr, { kind: "prim" | "const" }>) => Samples,
  memo: Map<Expr, Samples>,
): Samples {
  if (expr.kind === "const") return [expr.value];
  const known = memo.get(expr);
  if (known !== undefined) return known;
  const found =
    expr.kind === "prim"
      ? apply(
          expr.prim,
          expr.args.map((a) => sample(a, leaf, memo)),
        )
      : leaf(expr);
  memo.set(expr, found);
  return found;
}

function apply(name: PrimName, args: readonly Samples[]): Samples {
  const evaluate = primOf(name).eval as (...values: readonly Value[]) => Value;
  const count = args.every((a) => a.length === 1) ? 1 : sampleCount;
  const values = Array.from({ length: count }, (_, s) => evaluate(...args.map((a) => a[s] ?? a[0]!)));
  if (count === 1 || !isConstant(values)) return values;
  if (isOutOfRange(name, args))
    return values.map((v, s) => (s % 2 === 0 ? v : typeof v === "bigint" ? ~v : ~Number(v)));
  return isUndecided(name, args) ? values.map((v, s) => (s % 2 === 0 ? v : !v)) : [values[0]!];
}

/** Whether a conversion to an integer gave the same each time only because every filling was out of its range. */
const isOutOfRange = (name: PrimName, [a]: readonly Samples[]): boolean =>
  /^i(32|64)\.([su]\d+_from|trunc_sat)_f64/.test(name) &&
  a!.some((v) => !(Math.abs(Number(v)) < 2 ** 31) || (Number(v) < 0 && /\.u\d|_u$/.test(name)));

const isConstant = (values: Samples): boolean => values.every((v) => Object.is(v, values[0]));

/** Whether a comparison that gave the same each time might have another result for other fillings. */
function isUndecided(name: PrimName, [a, b]: readonly Samples[]): boolean {
  const [ty, relation] = name.split(".") as [Expr["ty"], string];
  if (primOf(name).result !== "pred" || ty === "pred" || a === undefined || b === undefined) return false;
  const same = a.length === b.length && a.every((v, s) => Object.is(v, b[s]));
  if (same) return false;
  if (relation.startsWith("cmp_")) return true;
  if (ty !== "i32" && ty !== "i64") return false;
  const [x, y] = [rangeOf(ty, a), rangeOf(ty, b)];
  if (relation === "eq" || relation === "ne") return ((x.known ^ y.known) & ~(x.varying | y.varying)) === 0n;
  if (!/^l[te]_[su]$/.test(relation)) return false;
  const sign = relation.endsWith("s") ? 1n << (ty === "i32" ? 31n : 63n) : 0n;
  const least = ({ known, varying }: Range): bigint => (known & ~varying) | 0n;
  const biased = (r: Range): Range => ({ known: r.known ^ sign, varying: r.varying });
  const [p, q] = [biased(x), biased(y)];
  const holds = (left: bigint, right: bigint): boolean => (relation.startsWith("lt") ? left < right : left <= right);
  return holds(least(p), q.known | q.varying) !== holds(p.known | p.varying, least(q));
}

interface Range {
  /** The bits of one sample, and the bits in which samples differ. */
  readonly known: bigint;
  readonly varying: bigint;
}

function rangeOf(ty: "i32" | "i64", samples: Samples): Range {
  const bits = samples.map((v) => BigInt.asUintN(ty === "i32" ? 32 : 64, BigInt(v)));
  return { known: bits[0]!, varying: bits.reduce((all, v) => all | (v ^ bits[0]!), 0n) };
}

/** The bits in which the samples differ, as two words. */
export function varyingBits(ty: Expr["ty"], samples: Samples): readonly [low: number, high: number] {
  if (samples.length === 1) return [0, 0];
  let low = 0;
  let high = 0;
  const first = words(ty, samples[0]!);
  for (const value of samples) {
    const [l, h] = words(ty, value);
    low |= l ^ first[0];
    high |= h ^ first[1];
  }
  return [low, high];
}

function words(ty: Expr["ty"], value: Value): readonly [low: number, high: number] {
  const pattern = patternOf(ty, value);
  if (typeof pattern === "bigint")
    return [Number(BigInt.asIntN(32, pattern)), Number(BigInt.asIntN(32, pattern >> 32n))];
  return [Number(pattern), 0];
}
