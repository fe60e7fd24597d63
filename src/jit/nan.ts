import { operandsOf } from "../ir/flow/accesses.ts";
import { nan32, nan64 } from "../numeric/float-pattern.ts";
import type { Instruction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import type { Value } from "./value.ts";

/**
 * PTX's NaN of a computation, in the place of whatever NaN WebAssembly has made. Only where bits are looked at does it matter
 * which it is: `observedBits`.
 */
export function canonicalNan(value: Value): Value {
  const { ty } = value;
  if (ty !== "f32" && ty !== "f64") return value;
  if (value.kind === "uniform") {
    const { scalar } = value;
    const bits =
      ty === "f32"
        ? wasm.select(wasm.op("f32.eq", scalar, scalar), wasm.op("i32.reinterpret_f32", scalar), wasm.i32(nan32))
        : wasm.select(wasm.op("f64.eq", scalar, scalar), wasm.op("i64.reinterpret_f64", scalar), wasm.i64(nan64));
    return { kind: "uniform", ty: ty === "f32" ? "i32" : "i64", scalar: bits };
  }
  if (value.kind !== "vector") return value;
  const [eq, nan] =
    ty === "f32" ? (["f32x4.eq", wasm.i32x4(nan32)] as const) : (["f64x2.eq", wasm.i64x2(nan64)] as const);
  const clean = (part: Wasm): Wasm => wasm.blend(wasm.op(eq, part, part), part, nan);
  return { ...value, ty: ty === "f32" ? "i32" : "i64", quads: value.quads.map((quad) => quad.map(clean)) };
}

/**
 * The registers of which something looks at the bits: as integers, in memory, in calls, as results. Others are only computed
 * with, or moved to registers that are.
 */
export function observedBits(instructions: readonly Instruction[], results: readonly number[]): ReadonlySet<number> {
  const observed = new Set<number>();
  const sources = new Map<number, number[]>();
  const observe = (register: number): void => {
    if (observed.has(register)) return;
    observed.add(register);
    for (const source of sources.get(register) ?? []) observe(source);
  };
  const seen = new Set<Expr>();
  const visit = (expr: Expr, isOperand: boolean): void => {
    if (expr.kind === "reg") {
      if (!isOperand || (expr.ty !== "f32" && expr.ty !== "f64")) observe(expr.reg);
    } else if (expr.kind === "prim" && !seen.has(expr)) {
      seen.add(expr);
      for (const arg of expr.args) visit(arg, true);
    }
  };
  for (const { op, dst } of instructions) {
    if (op.kind !== "pure") continue;
    op.values.forEach((value, i) => {
      const to = dst[i];
      if (value.kind !== "reg" || typeof to !== "number") return;
      const list = sources.get(to);
      if (list === undefined) sources.set(to, [value.reg]);
      else list.push(value.reg);
    });
  }
  for (const result of results) observe(result);
  for (const { op, dst } of instructions) {
    operandsOf(op).forEach((expr, i) => {
      const isMove = op.kind === "pure" && expr.kind === "reg" && typeof dst[i] === "number";
      if (!isMove) visit(expr, false);
      else if (observed.has(dst[i] as number)) observe((expr as { readonly reg: number }).reg);
    });
  }
  return observed;
}
