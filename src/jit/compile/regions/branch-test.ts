import type { Guard } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { BranchCondition } from "../analysis/flow/branch-condition.ts";
import type { GridStrides } from "../analysis/values/grid-strides.ts";
import type { Chunk } from "../emit/chunk.ts";
import { both, plus } from "../lanes/scalar.ts";
import type { RangeTest } from "./range-values.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/** Tests that all lanes take a branch (or exit), or that none does; null where that cannot be tested. */
export function branchTest(
  chunk: Chunk,
  { register, negate, collapse }: Guard,
  found: BranchCondition | null,
  strides: GridStrides,
  isTaken: boolean,
): RangeTest | null {
  const predicate: Expr = { kind: "reg", ty: "pred", reg: register };
  const predicates = found?.predicates ?? new Map<number, Expr>();
  return collapse === undefined ? holds(chunk, strides, predicates, predicate, isTaken !== negate) : null;
}

/** Tests that a predicate is `wanted` for all threads; null where that cannot be tested. */
function holds(
  chunk: Chunk,
  strides: GridStrides,
  predicates: ReadonlyMap<number, Expr>,
  expr: Expr,
  wanted: boolean,
): RangeTest | null {
  const inner = (of: Expr, isWanted: boolean): RangeTest | null => holds(chunk, strides, predicates, of, isWanted);
  if (expr.kind === "const") return () => wasm.i32(expr.value === wanted ? 1 : 0);
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg);
    if (known !== undefined) return inner(known, wanted);
    if (!strides.isSame(expr)) {
      const value = strides.valueOf(expr.reg);
      return value === null ? null : inner(value, wanted);
    }
    return () => {
      const p = scalarOf(chunk, expr);
      return wanted ? p : wasm.op("i32.eqz", p);
    };
  }
  if (expr.kind !== "prim") return null;
  if (expr.prim === "pred.not") return inner(expr.args[0]!, !wanted);
  if (expr.prim === "pred.and" || expr.prim === "pred.or") {
    const [a, b] = expr.args.map((arg) => inner(arg, wanted)) as [RangeTest | null, RangeTest | null];
    if ((expr.prim === "pred.and") === wanted) return a && b && ((range) => both(a(range), b(range)));
    return a && b ? (range) => wasm.op("i32.or", a(range), b(range)) : (a ?? b);
  }
  const found = /^i32\.(lt|le)_([su])$/.exec(expr.prim);
  if (found === null) return wanted ? excess(strides, expr) : null;
  const isSigned = found[2] === "s";
  // What is not less is greater or equal.
  const [a, b] = (wanted ? expr.args : [expr.args[1]!, expr.args[0]!]) as readonly [Expr, Expr];
  const [left, right] = [strides.of(a), strides.of(b)];
  if (left === null || right === null) return null;
  const isStrict = (found[1] === "lt") === wanted;
  return (range) => {
    const [low, high] = [range.range(a, left, isSigned), range.range(b, right, isSigned)];
    const inOrder = wasm.op(isStrict ? "i64.lt_s" : "i64.le_s", low.max, high.min);
    return both(both(low.isExact, high.isExact), inOrder);
  };
}

/** Tests that a number is at most so far beyond another one; null where that cannot be tested, or for anything else. */
function excess(strides: GridStrides, { prim, args }: Prim): RangeTest | null {
  if (prim !== "i64.le_s") return null;
  const [a, sum] = [args[0]!, args[1]!];
  if (sum.kind !== "prim" || sum.prim !== "i64.add" || sum.args[1]!.kind !== "const") return null;
  const [low, high] = [widenedIn(a), widenedIn(sum.args[0]!)];
  const [left, right] = [low && strides.of(low), high && strides.of(high)];
  if (low === null || high === null || left === null || right === null) return null;
  const most = sum.args[1].value as bigint;
  return (range) => {
    const [x, y] = [range.range(low, left, true), range.range(high, right, true)];
    const inOrder = wasm.op("i64.le_s", x.max, plus(y.min, wasm.i64(most)));
    return both(both(x.isExact, y.isExact), inOrder);
  };
}

const widenedIn = (expr: Expr): Expr | null =>
  expr.kind === "prim" && expr.prim === "i64.extend_i32_s" ? expr.args[0]! : null;

/** A uniform value. */
export function scalarOf(chunk: Chunk, expr: Expr): Wasm {
  const value = chunk.value(expr);
  if (value.kind !== "uniform") throw new Error("a uniform value is no scalar");
  return value.scalar;
}
