import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import {
  BoolOp,
  CmpOp,
  combine,
  compare,
  compareHalves,
  FloatCmpOp,
  flushProblem,
  operatorProblem,
} from "./operators.ts";

interface Chosen {
  readonly CmpOp: CmpOp;
  readonly BoolOp?: BoolOp;
  readonly ftz?: boolean;
  readonly type: string;
}
type Operands = Readonly<Record<"a" | "b", Expr>> & { readonly c?: Expr };

const invalid = ({ CmpOp, ftz = false, type }: Chosen): string | null =>
  operatorProblem(CmpOp, type) ?? flushProblem(ftz, type);

/** `p` is the comparison, `q` its complement, each combined with `c`. */
function sem(k: Kit, { a, b, c }: Operands, { CmpOp, BoolOp, ftz = false, type }: Chosen) {
  const t = compare(k, CmpOp, type, a, b, ftz);
  return { p: combine(k, BoolOp, t, c), q: combine(k, BoolOp, k.not(t), c) };
}

/** `p` is the comparison of the low elements, `q` that of the high ones. */
function packedSem(k: Kit, { a, b, c }: Operands, { CmpOp, BoolOp, ftz = false, type }: Chosen) {
  const [low, high] = compareHalves(k, CmpOp, type, a, b, ftz);
  return { p: combine(k, BoolOp, low, c), q: combine(k, BoolOp, high, c) };
}

const type = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"] as const;
const operands = { p: "pred", q: "pred" } as const;
const withPredicate = { ...operands, c: "pred" } as const;
const f64 = { f64: { target: "sm_13" } } as const;

/** Section 9.7.6.2. */
export const setp = instruction("setp", {
  summary: "compares two values and sets predicates",
  section: "9.7.6.2",
  forms: [
    form("setp.CmpOp{.ftz}.type p{|q}, a, b", {
      where: { CmpOp, type },
      since: "1.0",
      anyOrder: true,
      gates: f64,
      operands,
      invalid,
      sem,
    }),
    form("setp.CmpOp.BoolOp{.ftz}.type p{|q}, a, b, {!}c", {
      where: { CmpOp, BoolOp, type },
      since: "1.0",
      anyOrder: true,
      gates: f64,
      operands: withPredicate,
      invalid,
      sem,
    }),
  ],
});

const half = { CmpOp: FloatCmpOp, type: ["f16", "bf16"] } as const;
const packed = { CmpOp: FloatCmpOp, type: ["f16x2", "bf16x2"] } as const;
const bf16 = { since: "7.8", target: "sm_90" } as const;
const shared = { since: "4.2", target: "sm_53", gates: { bf16, bf16x2: bf16 }, anyOrder: true, invalid } as const;

/** Section 9.7.7.2. */
export const setpHalf = instruction("setp", {
  summary: "compares two half-precision values, or two pairs of them, and sets predicates",
  section: "9.7.7.2",
  forms: [
    form("setp.CmpOp{.ftz}.type p, a, b", { where: half, ...shared, operands, sem }),
    form("setp.CmpOp.BoolOp{.ftz}.type p, a, b, {!}c", {
      where: { ...half, BoolOp },
      ...shared,
      operands: withPredicate,
      sem,
    }),
    // ptxas lets a program leave out the result of the high elements.
    form("setp.CmpOp{.ftz}.type p{|q}, a, b", { where: packed, ...shared, operands, sem: packedSem }),
    form("setp.CmpOp.BoolOp{.ftz}.type p{|q}, a, b, {!}c", {
      where: { ...packed, BoolOp },
      ...shared,
      operands: withPredicate,
      sem: packedSem,
    }),
  ],
});
