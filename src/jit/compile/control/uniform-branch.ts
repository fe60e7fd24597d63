import type { Guard } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { both, i64, minus, plus, times } from "../lanes/scalar.ts";
import type { Value } from "../lanes/value.ts";

/** Writes code for the case that a guard holds which is the same in all lanes. */
export function ifUniform(chunk: Chunk, guard: Guard, then: () => void): void {
  chunk.writer.value(chunk.guardScalar(guard));
  chunk.writer.if(then);
}

/** A range of lane numbers. */
export interface LaneRange {
  readonly from: number;
  /** The last lane, an i64. It may lie after the chunk, for values that keep their stride there. */
  readonly to: Wasm;
}

/**
 * A scalar test (i32) that is 1 only if a predicate equals `holds` in all lanes of a range, by default the chunk; null
 * if there is none that is cheaper than testing each lane.
 */
export function everywhere(
  chunk: Chunk,
  predicates: ReadonlyMap<number, Expr>,
  expr: Expr,
  holds: boolean,
  range: LaneRange = { from: 0, to: wasm.i64(BigInt(chunk.lanes - 1)) },
): Wasm | null {
  if (expr.kind === "const") return wasm.i32(expr.value === holds ? 1 : 0);
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg) ?? chunk.rematerialized.get(expr.reg);
    if (known !== undefined) return everywhere(chunk, predicates, known, holds, range);
    const value = chunk.value(expr);
    if (value.kind !== "uniform" || value.ty !== "pred") return null;
    return holds ? value.scalar : wasm.op("i32.eqz", value.scalar);
  }
  if (expr.kind !== "prim") return null;
  if (expr.prim === "pred.not") return everywhere(chunk, predicates, expr.args[0]!, !holds, range);
  if (expr.prim === "pred.and" || expr.prim === "pred.or") {
    const [a, b] = expr.args.map((arg) => everywhere(chunk, predicates, arg, holds, range)) as [
      Wasm | null,
      Wasm | null,
    ];
    if ((expr.prim === "pred.and") === holds) return a === null || b === null ? null : both(a, b);
    return a === null || b === null ? (a ?? b) : wasm.op("i32.or", a, b);
  }
  if (expr.prim === "i32.eq" || expr.prim === "i32.ne") {
    const [a, b] = expr.args.map((arg) => chunk.value(arg)) as [Value, Value];
    return (expr.prim === "i32.eq") === holds ? equal(a, b) : (differ(a, b, range) ?? differ(b, a, range));
  }
  const found = /^i32\.(lt|le)_([su])$/.exec(expr.prim);
  if (found === null) return null;
  const [, relation, sign] = found as unknown as [string, "lt" | "le", "s" | "u"];
  // The negation of "less" is "greater or equal".
  const [a, b] = holds ? expr.args : [expr.args[1]!, expr.args[0]!];
  const isStrict = (relation === "lt") === holds;
  return ordered(chunk, a!, b!, isStrict, sign, range);
}

/** 1 only if the values are equal in each lane; null if that is not known. Values with a stride never are. */
function equal(a: Value, b: Value): Wasm | null {
  if (a.kind === "uniform" && b.kind === "uniform") return wasm.op("i32.eq", a.scalar, b.scalar);
  const isStrided = ({ kind }: Value, other: Value): boolean => kind === "affine" && other.kind === "uniform";
  return isStrided(a, b) || isStrided(b, a) ? wasm.i32(0) : null;
}

/** 1 only if the values differ in each lane of a range, of which the second is uniform; null if that is not known. */
function differ(a: Value, b: Value, { from: first, to: last }: LaneRange): Wasm | null {
  if (b.kind !== "uniform") return null;
  if (a.kind === "uniform") return wasm.op("i32.ne", a.scalar, b.scalar);
  if (a.kind !== "affine") return null;
  const start = plus(a.base, wasm.i32(first * a.stride));
  const [from, to] = a.stride > 0 ? [start, b.scalar] : [b.scalar, start];
  // 32-bit values with a stride do not repeat before they have wrapped all the way around.
  const distance = wasm.op("i64.extend_i32_u", wasm.op("i32.sub", to, from));
  return wasm.op("i64.gt_u", distance, times(minus(last, i64(first)), Math.abs(a.stride)));
}

/** 1 only if `a` is less than `b` (or equal, unless `isStrict`) in each lane of a range; null if neither is uniform. */
function ordered(
  chunk: Chunk,
  a: Expr,
  b: Expr,
  isStrict: boolean,
  sign: "s" | "u",
  { from, to }: LaneRange,
): Wasm | null {
  const [left, right] = [chunk.value(a), chunk.value(b)];
  const extended = (word: Wasm): Wasm => wasm.op(`i64.extend_i32_${sign}`, word);
  const less = (x: Wasm, y: Wasm): Wasm => wasm.op(isStrict ? "i64.lt_s" : "i64.le_s", x, y);
  const [min, max] = sign === "s" ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
  const ends = (base: Wasm, stride: number): readonly [Wasm, Wasm] => {
    const first = extended(base);
    if (stride === 0) return [first, first];
    return [plus(first, i64(from * stride)), wasm.op("i64.add", first, times(to, stride))];
  };
  if (left.kind === "uniform" && right.kind === "uniform") {
    return wasm.op(`i32.${isStrict ? "lt" : "le"}_${sign}`, left.scalar, right.scalar);
  }
  if (left.kind === "affine" && right.kind === "uniform") {
    const [first, last] = ends(left.base, left.stride);
    const limit = extended(right.scalar);
    if (left.stride > 0) return less(last, limit);
    // No lane may have wrapped around.
    return both(less(first, limit), wasm.op("i64.ge_s", last, wasm.i64(min)));
  }
  if (left.kind === "uniform" && right.kind === "affine") {
    const [first, last] = ends(right.base, right.stride);
    const limit = extended(left.scalar);
    if (right.stride < 0) return less(limit, last);
    return both(less(limit, first), wasm.op("i64.le_s", last, wasm.i64(max)));
  }
  return null;
}
