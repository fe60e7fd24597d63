import type { RegisterClass } from "../../../ir/index.ts";
import type { PrimName } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import { canonicalNan } from "./canonical-nan.ts";
import { applyScalar, applyVector, type Value, vectorOf } from "./value.ts";

/** The bits of a value as a register of a class holds them: truncated or zero-extended. */
export function fitted(value: Value, to: RegisterClass, quads: number): Value {
  const bits = canonicalNan(value);
  if (to === "b64") return bits.ty === "i64" ? bits : converted("i64.extend_i32_u", fitted(bits, "b32", quads), quads);
  if (to === "pred" || bits.ty === "i32") return bits;
  if (bits.ty === "i64") return converted("i32.wrap_i64", bits, quads);
  // A predicate is 0 or 1.
  if (bits.kind === "uniform") return { ...bits, ty: "i32" };
  const all = vectorOf(bits, quads);
  return { ...all, ty: "i32", quads: all.quads.map(([q]) => [wasm.op("v128.and", q!, wasm.i32x4(1))]) };
}

/** The low bits of each lane of a value of 32 bits. */
export function truncated(value: Value, bits: number, quads: number): Value {
  const keep = 2 ** bits - 1;
  if (value.kind === "uniform") return { ...value, scalar: wasm.op("i32.and", value.scalar, wasm.i32(keep)) };
  if (value.kind === "vector" && value.bits !== undefined && value.bits <= bits) return value;
  const all = vectorOf(value, quads).quads;
  return { kind: "vector", ty: "i32", quads: all.map(([q]) => [wasm.op("v128.and", q!, wasm.i32x4(keep))]) };
}

function converted(prim: Extract<PrimName, "i64.extend_i32_u" | "i32.wrap_i64">, value: Value, quads: number): Value {
  if (value.kind !== "uniform") return applyVector(prim, [vectorOf(value, quads)], quads);
  const ty = prim === "i32.wrap_i64" ? "i32" : "i64";
  return { kind: "uniform", ty, scalar: applyScalar(prim, [value.scalar]) };
}
