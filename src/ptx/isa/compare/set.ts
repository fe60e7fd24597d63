import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { bf16Gate } from "../half/half-type.ts";
import {
  BoolOp,
  CmpOp,
  combine,
  type Comparison,
  type Compared,
  compare,
  compareHalves,
  comparisonProblem,
  FloatCmpOp,
} from "./operators.ts";
import { valueGates, valueTypes } from "./value-types.ts";

interface Chosen extends Comparison {
  readonly dtype: string;
  readonly stype: string;
}

const invalid = (m: Chosen): string | null => comparisonProblem(m, m.stype);

/** The bits of 1.0, which represents true in a floating-point type. In an integer type all bits are set instead. */
const one: Readonly<Record<string, number>> = {
  f32: 0x3f80_0000,
  f16: 0x3c00,
  bf16: 0x3f80,
  f16x2: 0x3c00,
  bf16x2: 0x3f80,
};

function sem(k: Kit, { a, b, c }: Compared, { CmpOp, BoolOp, ftz = false, dtype, stype }: Chosen): Expr {
  const result = combine(k, BoolOp, compare(k, CmpOp, stype, a, b, ftz), c);
  return k.select(result, k.i32(one[dtype] ?? -1), k.i32(0));
}

function packedSem(k: Kit, { a, b, c }: Compared, { CmpOp, BoolOp, ftz = false, dtype, stype }: Chosen): Expr {
  const element = one[dtype] ?? 0xffff;
  const [low, high] = compareHalves(k, CmpOp, stype, a, b, ftz);
  const part = (t: Expr, value: number) => k.select(combine(k, BoolOp, t, c), k.i32(value), k.i32(0));
  return k.or(part(low, element), part(high, element << 16));
}

const operands = { d: "dtype", a: "stype", b: "stype" } as const;
const withPredicate = { ...operands, c: "pred" } as const;
const words = { dtype: ["u32", "s32", "f32"], stype: valueTypes } as const;

/** Section 9.7.6.1. */
export const set = instruction("set", {
  summary: "compares two values and returns true or false as a number",
  section: "9.7.6.1",
  forms: [
    form("set.CmpOp{.ftz}.dtype.stype d, a, b", {
      where: { CmpOp, ...words },
      since: "1.0",
      anyOrder: true,
      gates: valueGates,
      operands,
      invalid,
      sem,
    }),
    form("set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", {
      where: { CmpOp, BoolOp, ...words },
      since: "1.0",
      anyOrder: true,
      gates: valueGates,
      operands: withPredicate,
      invalid,
      sem,
    }),
  ],
});

const halfGate = { since: "4.2", target: "sm_53", anyOrder: true } as const;
const bf16Forms = { ...bf16Gate, anyOrder: true } as const;
const toInteger = { since: "6.5" } as const;
const integers = { u16: toInteger, s16: toInteger, u32: toInteger, s32: toInteger } as const;
const toF16 = { CmpOp, dtype: ["f16"], stype: [...valueTypes, "f16"] } as const;
// The manual omits comparisons of two bf16 values, but ptxas accepts them.
const toBf16 = { CmpOp, dtype: ["bf16"], stype: [...valueTypes, "f16", "bf16"] } as const;
const fromHalf = { CmpOp: FloatCmpOp, dtype: ["u16", "s16", "u32", "s32"], stype: ["f16", "bf16"] } as const;
const fromPair = { CmpOp: FloatCmpOp, dtype: ["u32", "s32"], stype: ["f16x2", "bf16x2"] } as const;
const f16Pair = { CmpOp: FloatCmpOp, dtype: ["f16x2"], stype: ["f16x2"] } as const;
const bf16Pair = { CmpOp: FloatCmpOp, dtype: ["bf16x2"], stype: ["bf16x2"] } as const;
const fromBf16 = { ...integers, bf16: bf16Gate, bf16x2: bf16Gate } as const;

/** Section 9.7.7.1. */
export const setHalf = instruction("set", {
  summary: "compares two values, or two pairs of values, if one of the types is a half-precision type",
  section: "9.7.7.1",
  forms: [
    form("set.CmpOp{.ftz}.dtype.stype d, a, b", { where: toF16, ...halfGate, operands, invalid, sem }),
    form("set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", {
      where: { ...toF16, BoolOp },
      ...halfGate,
      operands: withPredicate,
      invalid,
      sem,
    }),
    form("set.CmpOp.dtype.stype d, a, b", { where: toBf16, ...bf16Forms, operands, invalid, sem }),
    form("set.CmpOp.BoolOp.dtype.stype d, a, b, {!}c", {
      where: { ...toBf16, BoolOp },
      ...bf16Forms,
      operands: withPredicate,
      invalid,
      sem,
    }),
    form("set.CmpOp{.ftz}.dtype.stype d, a, b", {
      where: fromHalf,
      ...halfGate,
      gates: fromBf16,
      operands,
      invalid,
      sem,
    }),
    form("set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", {
      where: { ...fromHalf, BoolOp },
      ...halfGate,
      gates: fromBf16,
      operands: withPredicate,
      invalid,
      sem,
    }),
    form("set.CmpOp{.ftz}.dtype.stype d, a, b", {
      where: fromPair,
      ...halfGate,
      gates: fromBf16,
      operands,
      invalid,
      sem: packedSem,
    }),
    form("set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", {
      where: { ...fromPair, BoolOp },
      ...halfGate,
      gates: fromBf16,
      operands: withPredicate,
      invalid,
      sem: packedSem,
    }),
    form("set.CmpOp{.ftz}.dtype.stype d, a, b", { where: f16Pair, ...halfGate, operands, invalid, sem: packedSem }),
    form("set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", {
      where: { ...f16Pair, BoolOp },
      ...halfGate,
      operands: withPredicate,
      invalid,
      sem: packedSem,
    }),
    form("set.CmpOp.dtype.stype d, a, b", { where: bf16Pair, ...bf16Forms, operands, invalid, sem: packedSem }),
    form("set.CmpOp.BoolOp.dtype.stype d, a, b, {!}c", {
      where: { ...bf16Pair, BoolOp },
      ...bf16Forms,
      operands: withPredicate,
      invalid,
      sem: packedSem,
    }),
  ],
});
