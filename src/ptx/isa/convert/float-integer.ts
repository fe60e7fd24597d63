import { form } from "../define.ts";
import { bf16Gate } from "../half/half-type.ts";
import { widthOf } from "../integer/integer-type.ts";
import {
  floatToNumber,
  frnd,
  ftzNeedsF32,
  integerToNumber,
  integerTypes,
  irnd,
  numberToFloat,
  numberToInteger,
  satExcludesBf16,
} from "./number.ts";

const floatTypes = ["f16", "bf16", "f32", "f64"] as const;
const gates = { f64: { target: "sm_13" }, bf16: bf16Gate } as const;

/** Why `.ftz` or `.sat` cannot be used with a conversion between an integer and this type, or null. */
const modifierProblem = (type: string, ftz: boolean, sat: boolean): string | null =>
  ftz && type !== "f32" ? ftzNeedsF32 : sat && type === "bf16" ? satExcludesBf16 : null;

export const floatIntegerForms = [
  form("cvt.irnd{.ftz}{.sat}.dtype.atype d, a", {
    where: { irnd, dtype: integerTypes, atype: floatTypes },
    since: "1.0",
    anyOrder: true,
    gates,
    operands: { d: "dtype", a: "atype" },
    invalid: ({ ftz, sat, atype }) => modifierProblem(atype, ftz, sat),
    // The result is clamped to its range even without `.sat`. For NaN see the manual's "Integer Notes".
    sem: (k, { a }, { irnd, ftz, dtype, atype }) => {
      const wide = atype === "f64" || widthOf(dtype) === 64;
      const x = k.op(`f64.${irnd}`, floatToNumber(k, atype, a, ftz));
      return numberToInteger(k, dtype, x, wide ? 1n << BigInt(widthOf(dtype) - 1) : 0n);
    },
    note: "rounds a floating-point value to an integer",
  }),
  form("cvt.frnd{.ftz}{.sat}.dtype.atype d, a", {
    where: { frnd, dtype: floatTypes, atype: integerTypes },
    since: "1.0",
    anyOrder: true,
    gates,
    operands: { d: "dtype", a: "atype" },
    invalid: ({ ftz, sat, dtype }) => modifierProblem(dtype, ftz, sat),
    sem: (k, { a }, { frnd, sat, dtype, atype }) => {
      const x = integerToNumber(k, atype, a, dtype === "f64" ? frnd : "odd");
      return numberToFloat(k, dtype, sat ? k.op("f64.saturate", x) : x, frnd);
    },
    note: "converts an integer to a floating-point value, with a single rounding",
  }),
] as const;
