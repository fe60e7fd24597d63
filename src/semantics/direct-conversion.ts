import type { Expr } from "./expr.ts";
import { onSingles } from "./form.ts";
import { asOps, type Emission } from "./prim.ts";
import { toSmallFromF32 } from "./prims/convert-wasm.ts";
import type { PrimName } from "./prims/index.ts";
import { bf16, encoded, f16 } from "./prims/short-float-wasm.ts";

/** Emissions by primitive, for one value and for four lanes. */
type Steps = Readonly<Partial<Record<PrimName, Emission>>>;

const unchanged: Emission = { scalar: (x) => x, quad: (x) => x };

/** The last step of a conversion through binary64, as an operation on the binary32 number it began with. */
const fromF32: Steps = {
  "f32.from_f64_rn": unchanged,
  "f32.from_f64_rz": unchanged,
  "f32.from_f64_rm": unchanged,
  "f32.from_f64_rp": unchanged,
  "i32.s32_from_f64": asOps("i32.trunc_sat_f32_s", "quad", "i32x4.trunc_sat_f32x4_s"),
  "i32.u32_from_f64": asOps("i32.trunc_sat_f32_u", "quad", "i32x4.trunc_sat_f32x4_u"),
  "i32.s8_from_f64": toSmallFromF32("s", -0x80, 0x7f),
  "i32.u8_from_f64": toSmallFromF32("u", 0, 0xff),
  "i32.s16_from_f64": toSmallFromF32("s", -0x8000, 0x7fff),
  "i32.u16_from_f64": toSmallFromF32("u", 0, 0xffff),
  "i32.f16_from_f64_rn": onSingles((s, x) => encoded(s, x, f16, "rn")),
  "i32.f16_from_f64_rz": onSingles((s, x) => encoded(s, x, f16, "rz")),
  "i32.bf16_from_f64_rn": onSingles((s, x) => encoded(s, x, bf16, "rn")),
  "i32.bf16_from_f64_rz": onSingles((s, x) => encoded(s, x, bf16, "rz")),
};

/** The optional middle step, as an operation on the binary32 number. */
const between: Steps = {
  "f64.rni": asOps("f32.nearest", "quad", "f32x4.nearest"),
  "f64.rzi": asOps("f32.trunc", "quad", "f32x4.trunc"),
  "f64.rmi": asOps("f32.floor", "quad", "f32x4.floor"),
  "f64.rpi": asOps("f32.ceil", "quad", "f32x4.ceil"),
};

/** By the first step of a conversion, its possible last steps. */
const ways: Readonly<Partial<Record<PrimName, Steps>>> = {
  "f64.from_f32": fromF32,
  "f64.from_i32_s": { "f32.from_f64_rn": asOps("f32.convert_i32_s", "quad", "f32x4.convert_i32x4_s") },
  "f64.from_i32_u": { "f32.from_f64_rn": asOps("f32.convert_i32_u", "quad", "f32x4.convert_i32x4_u") },
};

/**
 * Finds a direct form of a conversion. Conversions are written as paths through binary64, which is correct for all of
 * them; if both ends have 32 bits, there is often a direct conversion with the same result that handles four lanes at
 * once. `emission` is that conversion, to be applied to `operand`. Null if there is none.
 */
export function directConversion(expr: Expr): { readonly emission: Emission; readonly operand: Expr } | null {
  if (expr.kind !== "prim") return null;
  let inner = expr.args[0];
  let step: Emission = unchanged;
  if (inner?.kind === "prim" && between[inner.prim] !== undefined) {
    step = between[inner.prim]!;
    inner = inner.args[0];
  }
  if (inner?.kind !== "prim" || (step !== unchanged && inner.prim !== "f64.from_f32")) return null;
  const end = ways[inner.prim]?.[expr.prim];
  if (end === undefined) return null;
  const emission: Emission = {
    scalar: (x) => end.scalar!(step.scalar!(x)),
    quad: (x) => end.quad!(step.quad!(x)),
  };
  return { emission, operand: inner.args[0]! };
}
