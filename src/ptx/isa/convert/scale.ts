import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { floatToNumber, joined, limited, numberToInteger } from "./number.ts";

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

/** Modifiers have their order: which of two types comes first is the direction. */
const fixedPoint = {
  since: "9.1",
  target: ["sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"],
} as const;

/** The fractional bits of s2f6, a signed number of 8 bits (section 5.2.4). */
const s2f6One = 64;

/** The scale in the upper or the lower half of a pair; 1 if there is none. */
const scaleAt = (k: Kit, scales: Expr | null, at: 0 | 8): Expr | null =>
  scales === null ? null : k.op("f64.from_ue8m0", k.shr(scales, k.i32(at), false));

/** Converts a number, divided by its scale, to s2f6. NaN becomes the largest number. */
function toS2f6(k: Kit, x: Expr, scale: Expr | null, relu: boolean): Expr {
  const scaled = scale === null ? x : k.op("f64.div", x, scale);
  const units = k.op("f64.mul", relu ? k.op("f64.relu", scaled) : scaled, k.f64(s2f6One));
  return k.and(numberToInteger(k, "s8", k.op("f64.rni", units), 127n), k.i32(0xff));
}

/** Converts a pair of numbers, the upper one first, to s2f6x2. */
const toS2f6Pair = (k: Kit, [high, low]: readonly [Expr, Expr], scales: Expr | null, relu: boolean): Expr =>
  joined(k, toS2f6(k, high, scaleAt(k, scales, 8), relu), toS2f6(k, low, scaleAt(k, scales, 0), relu), 8);

const singles = (k: Kit, a: Expr, b: Expr) => [floatToNumber(k, "f32", a), floatToNumber(k, "f32", b)] as const;
const bf16Pair = (k: Kit, a: Expr) => {
  const half = (at: number): Expr => floatToNumber(k, "bf16", k.field(a, at, 16, false));
  return [half(16), half(0)] as const;
};

/** Converts a pair of s2f6 to bf16, which is exact, and multiplies it by the scales. */
function fromS2f6Pair(k: Kit, a: Expr, scales: Expr | null, m: { relu: boolean; satfinite: boolean }): Expr {
  const one = (at: 0 | 8): Expr => {
    const number = k.op("f64.div", k.op("f64.from_i32_s", k.field(a, at, 8, true)), k.f64(s2f6One));
    const scale = scaleAt(k, scales, at);
    const scaled = scale === null ? number : k.op("f64.mul", number, scale);
    return k.op("i32.bf16_from_f64_rn", limited(k, scaled, "bf16", m));
  };
  return joined(k, one(8), one(0), 16);
}

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
    sem: (k, { a, b }, { relu }) => toS2f6Pair(k, singles(k, a, b), null, relu),
  }),
  form("cvt.rn.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.f32 d, a, b, s", {
    ...fixedPoint,
    operands: { d: "b16", a: "f32", b: "f32", s: "b16" },
    sem: (k, { a, b, s }, { relu }) => toS2f6Pair(k, singles(k, a, b), s, relu),
  }),
  form("cvt.rn.satfinite{.relu}.s2f6x2.bf16x2 d, a", {
    ...fixedPoint,
    operands: { d: "b16", a: "bf16x2" },
    sem: (k, { a }, { relu }) => toS2f6Pair(k, bf16Pair(k, a), null, relu),
  }),
  form("cvt.rn.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.bf16x2 d, a, s", {
    ...fixedPoint,
    operands: { d: "b16", a: "bf16x2", s: "b16" },
    sem: (k, { a, s }, { relu }) => toS2f6Pair(k, bf16Pair(k, a), s, relu),
  }),
  form("cvt.rn{.satfinite}{.relu}.bf16x2.s2f6x2 d, a", {
    ...fixedPoint,
    operands: { d: "bf16x2", a: "b16" },
    sem: (k, { a }, m) => fromS2f6Pair(k, a, null, m),
  }),
  form("cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2.s2f6x2 d, a, s", {
    ...fixedPoint,
    operands: { d: "bf16x2", a: "b16", s: "b16" },
    sem: (k, { a, s }, m) => fromS2f6Pair(k, a, s, m),
  }),
] as const;
