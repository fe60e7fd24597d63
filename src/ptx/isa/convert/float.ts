import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { bf16Gate } from "../half/half-type.ts";
import {
  type FloatRounding,
  type FloatType,
  floatToNumber,
  frnd,
  ftzNeedsF32,
  irnd,
  numberToFloat,
  satExcludesBf16,
} from "./number.ts";

interface Chosen {
  readonly frnd?: FloatRounding | undefined;
  readonly ftz?: boolean;
  readonly sat?: boolean;
  readonly dtype: FloatType;
  readonly atype: FloatType;
}
const operands = { d: "dtype", a: "atype" } as const;

function sem(
  k: Kit,
  { a }: Readonly<Record<"a", Expr>>,
  { frnd = "rn", ftz = false, sat = false, dtype, atype }: Chosen,
): Expr {
  if (dtype === atype && !ftz && !sat) return a;
  const x = floatToNumber(k, atype, a, ftz);
  return numberToFloat(k, dtype, sat ? k.op("f64.saturate", x) : x, frnd, ftz);
}

/** Whether a conversion can be inexact, so that it needs a rounding. */
const isLossy = (to: FloatType, from: FloatType): boolean =>
  from === "f64" ? to !== "f64" : from === "f32" ? to === "f16" : false;

export const floatForms = [
  form("cvt{.frnd}{.ftz}{.sat}.dtype.atype d, a", {
    where: { frnd, dtype: ["f16", "f32", "f64"], atype: ["f16", "f32", "f64"] },
    since: "1.0",
    anyOrder: true,
    gates: { f64: { target: "sm_13" } },
    operands,
    invalid: ({ frnd, ftz, dtype, atype }) => {
      const types = `from '.${atype}' to '.${dtype}'`;
      if (isLossy(dtype, atype) !== (frnd !== undefined)) {
        return frnd
          ? `'.${frnd}': a conversion ${types} is exact`
          : `a conversion ${types} needs a rounding: '.rn', '.rz', '.rm' or '.rp'`;
      }
      return ftz && dtype !== "f32" && atype !== "f32" ? ftzNeedsF32 : null;
    },
    sem,
    note: "converts between floating-point types",
  }),
  form("cvt.frnd{.ftz}.bf16.f32 d, a", {
    where: { frnd },
    since: "7.0",
    anyOrder: true,
    target: "sm_80",
    operands: { d: "bf16", a: "f32" },
    sem: (k, src, m) => sem(k, src, { ...m, dtype: "bf16", atype: "f32" }),
  }),
  // Widening is exact, but ptxas accepts a rounding.
  form("cvt{.frnd}{.ftz}.f32.bf16 d, a", {
    where: { frnd },
    since: "7.1",
    anyOrder: true,
    target: "sm_80",
    gates: { ftz: bf16Gate },
    operands: { d: "f32", a: "bf16" },
    sem: (k, src, { ftz }) => sem(k, src, { ftz, dtype: "f32", atype: "bf16" }),
  }),
  // ptxas accepts conversions between f16 and bf16 without a rounding, and then rounds to nearest even.
  form("cvt{.frnd}.dtype.atype d, a", {
    where: { frnd, dtype: ["f16", "bf16", "f64"], atype: ["f16", "bf16", "f64"] },
    ...bf16Gate,
    anyOrder: true,
    operands,
    invalid: ({ frnd, dtype, atype }) =>
      dtype !== "bf16" && atype !== "bf16"
        ? "one of the types must be '.bf16' in this form"
        : dtype === atype && frnd
          ? `'.${frnd}': this conversion does not round`
          : atype === "f64" && !frnd
            ? "a conversion from '.f64' to '.bf16' needs a rounding: '.rn', '.rz', '.rm' or '.rp'"
            : null,
    sem,
  }),
  form("cvt.irnd{.ftz}{.sat}.dtype.atype d, a", {
    where: { irnd, dtype: ["f16", "bf16", "f32", "f64"], atype: ["f16", "bf16", "f32", "f64"] },
    since: "1.0",
    anyOrder: true,
    gates: { f64: { target: "sm_13" }, bf16: bf16Gate },
    operands,
    invalid: ({ irnd, ftz, sat, dtype, atype }) =>
      dtype !== atype
        ? `'.${irnd}' rounds to an integer within one type, but '.${dtype}' is not '.${atype}'`
        : ftz && dtype !== "f32"
          ? ftzNeedsF32
          : sat && dtype === "bf16"
            ? satExcludesBf16
            : null,
    sem: (k, { a }, { irnd, ftz, sat, dtype }) => {
      const x = k.op(`f64.${irnd}`, floatToNumber(k, dtype, a, ftz));
      return numberToFloat(k, dtype, sat ? k.op("f64.saturate", x) : x, "rn");
    },
    note: "rounds to an integral value of the same type",
  }),
] as const;
