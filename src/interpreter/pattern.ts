import type { Expr, Value } from "../semantics/index.ts";

const f32 = new Float32Array(1);
const f32Bits = new Int32Array(f32.buffer);
const f64 = new Float64Array(1);
const f64Bits = new BigInt64Array(f64.buffer);

/** A value as its bit pattern; a NaN that was computed is canonical. */
export function patternOf(ty: Expr["ty"], value: Value): number | bigint {
  if (ty === "f32") return ((f32[0] = value as number), value === value ? f32Bits[0]! : 0x7fff_ffff);
  if (ty === "f64") return ((f64[0] = value as number), value === value ? f64Bits[0]! : 0x7ff8_0000_0000_0000n);
  return value as number | bigint;
}
