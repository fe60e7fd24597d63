import { numberToBf16Stochastic, numberToF16Stochastic } from "../../numeric/half.ts";
import {
  minifloats as formats,
  minifloatToNumber,
  numberToMinifloat,
  numberToUe8m0,
  ue8m0ToNumber,
} from "../../numeric/minifloat.ts";
import { numberToTf32 } from "../../numeric/tf32.ts";
import { expanded, named } from "../expansion.ts";
import { prim } from "../prim.ts";
import { fromUe8m0, toTf32, toUe8m0 } from "./convert-narrow-wasm.ts";
import { bf16, f16, fromShort, saturating, toShort } from "./short-float-wasm.ts";
import { toShortStochastic } from "./stochastic-wasm.ts";

/**
 * Conversions with random bits, and those to and from tf32 and the formats of at most 8 bits. Conversions to the latter
 * saturate.
 */
export const convertNarrowPrims = named({
  /** The second operand holds random bits: 13 for f16, 16 for bf16, in its low bits. */
  "i32.f16_from_f64_rs": expanded(
    ["f64", "i32"],
    "i32",
    (a, random) => numberToF16Stochastic(a, random),
    toShortStochastic(f16, 13),
  ),
  "i32.bf16_from_f64_rs": expanded(
    ["f64", "i32"],
    "i32",
    (a, random) => numberToBf16Stochastic(a, random),
    toShortStochastic(bf16, 16),
  ),

  "i32.tf32_from_f64_rn": prim(["f64"], "i32", (a) => numberToTf32(a, "rn"), toTf32("rn")),
  "i32.tf32_from_f64_rz": prim(["f64"], "i32", (a) => numberToTf32(a, "rz"), toTf32("rz")),
  "i32.tf32_from_f64_rna": prim(["f64"], "i32", (a) => numberToTf32(a, "rna"), toTf32("rna")),

  "i32.e4m3_from_f64": prim(
    ["f64"],
    "i32",
    (a) => numberToMinifloat(a, formats.e4m3),
    toShort(saturating(formats.e4m3)),
  ),
  "i32.e5m2_from_f64": prim(
    ["f64"],
    "i32",
    (a) => numberToMinifloat(a, formats.e5m2),
    toShort(saturating(formats.e5m2)),
  ),
  "i32.e2m3_from_f64": prim(
    ["f64"],
    "i32",
    (a) => numberToMinifloat(a, formats.e2m3),
    toShort(saturating(formats.e2m3)),
  ),
  "i32.e3m2_from_f64": prim(
    ["f64"],
    "i32",
    (a) => numberToMinifloat(a, formats.e3m2),
    toShort(saturating(formats.e3m2)),
  ),
  "i32.e2m1_from_f64": prim(
    ["f64"],
    "i32",
    (a) => numberToMinifloat(a, formats.e2m1),
    toShort(saturating(formats.e2m1)),
  ),
  "f64.from_e4m3": prim(["i32"], "f64", (a) => minifloatToNumber(a, formats.e4m3), fromShort(saturating(formats.e4m3))),
  "f64.from_e5m2": prim(["i32"], "f64", (a) => minifloatToNumber(a, formats.e5m2), fromShort(saturating(formats.e5m2))),
  "f64.from_e2m3": prim(["i32"], "f64", (a) => minifloatToNumber(a, formats.e2m3), fromShort(saturating(formats.e2m3))),
  "f64.from_e3m2": prim(["i32"], "f64", (a) => minifloatToNumber(a, formats.e3m2), fromShort(saturating(formats.e3m2))),
  "f64.from_e2m1": prim(["i32"], "f64", (a) => minifloatToNumber(a, formats.e2m1), fromShort(saturating(formats.e2m1))),

  /** Without and with `.satfinite`. */
  "i32.ue8m0_from_f64_rz": prim(["f64"], "i32", (a) => numberToUe8m0(a, "rz", false), toUe8m0("rz", false)),
  "i32.ue8m0_from_f64_rp": prim(["f64"], "i32", (a) => numberToUe8m0(a, "rp", false), toUe8m0("rp", false)),
  "i32.ue8m0_from_f64_rz_finite": prim(["f64"], "i32", (a) => numberToUe8m0(a, "rz", true), toUe8m0("rz", true)),
  "i32.ue8m0_from_f64_rp_finite": prim(["f64"], "i32", (a) => numberToUe8m0(a, "rp", true), toUe8m0("rp", true)),
  "f64.from_ue8m0": prim(["i32"], "f64", (a) => ue8m0ToNumber(a), fromUe8m0),
});
