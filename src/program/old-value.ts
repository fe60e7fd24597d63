import type { Expr, Value } from "../semantics/index.ts";

const word = new DataView(new ArrayBuffer(8));

/** The value of an `old` leaf of type `ty`, given its bits. */
export function oldValue(ty: Expr["ty"], bits: Value): Value {
  if (ty === "f32") return (word.setInt32(0, bits as number), word.getFloat32(0));
  if (ty === "f64") return (word.setBigInt64(0, bits as bigint), word.getFloat64(0));
  return bits;
}
