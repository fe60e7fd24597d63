import type { Kit } from "../../../semantics/index.ts";
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
  readonly type: string;
}

const invalid = (m: Chosen): string | null => comparisonProblem(m, m.type);

/** `p` is the comparison and `q` its complement, each combined with `c`. */
function sem(k: Kit, { a, b, c }: Compared, { CmpOp, BoolOp, ftz = false, type }: Chosen) {
  const t = compare(k, CmpOp, type, a, b, ftz);
  return { p: combine(k, BoolOp, t, c), q: combine(k, BoolOp, k.not(t), c) };
}

/** `p` is the comparison of the low elements, `q` that of the high ones. */
function packedSem(k: Kit, { a, b, c }: Compared, { CmpOp, BoolOp, ftz = false, type }: Chosen) {
  const [low, high] = compareHalves(k, CmpOp, type, a, b, ftz);
  return { p: combine(k, BoolOp, low, c), q: combine(k, BoolOp, high, c) };
}

const operands = { p: "pred", q: "pred" } as const;
const withPredicate = { ...operands, c: "pred" } as const;

/** Section 9.7.6.2. */
export const setp = instruction("setp", {
  summary: "compares two values and sets predicates",
  section: "9.7.6.2",
  forms: [
    form("setp.CmpOp{.ftz}.type p{|q}, a, b", {
      where: { CmpOp, type: valueTypes },
      since: "1.0",
      anyOrder: true,
      gates: valueGates,
      operands,
      invalid,
      sem,
    }),
    form("setp.CmpOp.BoolOp{.ftz}.type p{|q}, a, b, {!}c", {
      where: { CmpOp, BoolOp, type: valueTypes },
      since: "1.0",
      anyOrder: true,
      gates: valueGates,
      operands: withPredicate,
      invalid,
      sem,
    }),
  ],
});

const half = { CmpOp: FloatCmpOp, type: ["f16", "bf16"] } as const;
const packed = { CmpOp: FloatCmpOp, type: ["f16x2", "bf16x2"] } as const;
const shared = {
  since: "4.2",
  target: "sm_53",
  gates: { bf16: bf16Gate, bf16x2: bf16Gate },
  anyOrder: true,
  invalid,
} as const;

/** Section 9.7.7.2. */
export const setpHalf = instruction("setp", {
  summary: "compares two half-precision values, or two pairs of values, and sets predicates",
  section: "9.7.7.2",
  forms: [
    form("setp.CmpOp{.ftz}.type p, a, b", { where: half, ...shared, operands, sem }),
    form("setp.CmpOp.BoolOp{.ftz}.type p, a, b, {!}c", {
      where: { ...half, BoolOp },
      ...shared,
      operands: withPredicate,
      sem,
    }),
    // ptxas accepts these without the result of the high elements.
    form("setp.CmpOp{.ftz}.type p{|q}, a, b", { where: packed, ...shared, operands, sem: packedSem }),
    form("setp.CmpOp.BoolOp{.ftz}.type p{|q}, a, b, {!}c", {
      where: { ...packed, BoolOp },
      ...shared,
      operands: withPredicate,
      sem: packedSem,
    }),
  ],
});
