import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { floatToNumber, joined } from "./number.ts";

const family = ["sm_100f", "sm_110f", "sm_120f"] as const;
const gate = { since: "8.6", target: family, anyOrder: true } as const;
const frnd3 = ["rz", "rp"] as const;

interface Chosen {
  readonly frnd3: "rz" | "rp";
  readonly satfinite: boolean;
}

/** Converts the magnitude of a number to ue8m0, the power of two that scales a block. */
const scale = (k: Kit, x: Expr, { frnd3, satfinite }: Chosen): Expr =>
  k.op(satfinite ? `i32.ue8m0_from_f64_${frnd3}_finite` : `i32.ue8m0_from_f64_${frnd3}`, x);

const fixedPoint = {
  since: "9.1",
  anyOrder: true,
  target: ["sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"],
  unimplemented: "the manual does not describe the encoding of s2f6 numbers",
} as const;

/** Conversions to and from ue8m0, the format of scale factors, and conversions that scale. */
export const scaleForms = [
  form("cvt.frnd3{.satfinite}.ue8m0x2.f32 d, a, b", {
    where: { frnd3 },
    ...gate,
    operands: { d: "ue8m0x2", a: "f32", b: "f32" },
    sem: (k, { a, b }, m) => {
      const one = (x: Expr) => scale(k, floatToNumber(k, "f32", x), m);
      return joined(k, one(a), one(b), 8);
    },
  }),
  form("cvt.frnd3{.satfinite}.ue8m0x2.bf16x2 d, a", {
    where: { frnd3 },
    ...gate,
    operands: { d: "ue8m0x2", a: "bf16x2" },
    sem: (k, { a }, m) => {
      const one = (at: number) => scale(k, floatToNumber(k, "bf16", k.field(a, at, 16, false)), m);
      return joined(k, one(16), one(0), 8);
    },
  }),
  form("cvt.rn.bf16x2.ue8m0x2 d, a", {
    ...gate,
    operands: { d: "bf16x2", a: "ue8m0x2" },
    sem: (k, { a }) => {
      const one = (x: Expr) => k.op("i32.bf16_from_f64_rn", k.op("f64.from_ue8m0", x));
      return joined(k, one(k.shr(a, k.i32(8), false)), one(a), 16);
    },
  }),
  form("cvt.rn.satfinite{.relu}.s2f6x2.f32 d, a, b", {
    ...fixedPoint,
    operands: { d: "b16", a: "f32", b: "f32" },
  }),
  form("cvt.rn.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.f32 d, a, b, s", {
    ...fixedPoint,
    operands: { d: "b16", a: "f32", b: "f32", s: "b16" },
  }),
  form("cvt.rn.satfinite{.relu}.s2f6x2.bf16x2 d, a", {
    ...fixedPoint,
    operands: { d: "b16", a: "bf16x2" },
  }),
  form("cvt.rn.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.bf16x2 d, a, s", {
    ...fixedPoint,
    operands: { d: "b16", a: "bf16x2", s: "b16" },
  }),
  form("cvt.rn{.satfinite}{.relu}.bf16x2.s2f6x2 d, a", {
    ...fixedPoint,
    operands: { d: "bf16x2", a: "b16" },
  }),
  form("cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2.s2f6x2 d, a, s", {
    ...fixedPoint,
    operands: { d: "bf16x2", a: "b16", s: "b16" },
  }),
] as const;
