import { nan32, nan64 } from "../../../numeric/float-pattern.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { type Value, type Vector, vectorIn } from "./value.ts";

/**
 * The bits of a value, with PTX's canonical NaN in place of whatever NaN WebAssembly has produced. Needed only where
 * bits can be observed (`observedBits`).
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
  return { ...value, ty: bitsTy(ty), quads: value.quads.map((quad) => quad.map((part) => withOneNan(ty, part))) };
}

type FloatTy = "f32" | "f64";
const bitsTy = (ty: FloatTy): "i32" | "i64" => (ty === "f32" ? "i32" : "i64");
const ops = {
  f32: { add: "f32x4.add", eq: "f32x4.eq", ne: "f32x4.ne", bitmask: "i32x4.bitmask", nan: wasm.i32x4(nan32) },
  f64: { add: "f64x2.add", eq: "f64x2.eq", ne: "f64x2.ne", bitmask: "i64x2.bitmask", nan: wasm.i64x2(nan64) },
} as const;

/** The numbers of one vector, with one NaN. */
export const withOneNan = (ty: FloatTy, part: Wasm): Wasm =>
  wasm.blend(wasm.op(ops[ty].eq, part, part), part, ops[ty].nan);

/**
 * Makes the NaNs of many vectors canonical. NaNs are rare, so the sum of all is tested first, and only if that is a NaN
 * is each vector blended. `beforeCheck` is called with the locals that hold the results, before the test.
 */
export function canonicalNans(
  w: FunctionWriter,
  value: Vector,
  beforeCheck: (locals: readonly number[]) => void,
): { readonly value: Vector; readonly locals: number[] } {
  const { ty } = value;
  if (ty !== "f32" && ty !== "f64") return { value, locals: [] };
  const { add, ne, bitmask } = ops[ty];
  const locals = value.quads.flat().map(() => w.local("v128"));
  const parts = locals.map((local) => wasm.local("v128", local));
  w.assign(value.quads.flat().map((part, i) => ({ local: locals[i]!, value: part })));
  const sum = (of: readonly Wasm[]): Wasm => {
    const half = of.length >> 1;
    return half === 0 ? of[0]! : wasm.op(add, sum(of.slice(0, half)), sum(of.slice(half)));
  };
  beforeCheck(locals);
  const total = w.local("v128");
  w.assign([{ local: total, value: sum(parts) }]);
  w.value(wasm.op(bitmask, wasm.op(ne, wasm.local("v128", total), wasm.local("v128", total))));
  w.expect(false);
  w.if(() => w.assign(locals.map((local, i) => ({ local, value: withOneNan(ty, parts[i]!) }))));
  w.release(total);
  return { value: vectorIn(bitsTy(ty), locals), locals };
}
