import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { floatToNumber, joined } from "./number.ts";

const f8x2type = ["e4m3x2", "e5m2x2"] as const;
const f6x2type = ["e2m3x2", "e3m2x2"] as const;
const f4x2type = ["e2m1x2"] as const;
const fp16x2type = ["f16x2", "bf16x2"] as const;
type MinifloatPair = (typeof f8x2type)[number] | (typeof f6x2type)[number] | (typeof f4x2type)[number];
type HalfPair = (typeof fp16x2type)[number];

const elementOf = (type: MinifloatPair) => type.slice(0, -2) as "e4m3" | "e5m2" | "e2m3" | "e3m2" | "e2m1";
/** Bits from one element to the next. Elements of 6 bits take 8, of which the upper two are 0. */
const spacing = (type: MinifloatPair): number => (type === "e2m1x2" ? 4 : 8);

const narrow = (k: Kit, x: Expr, type: MinifloatPair, relu: boolean): Expr =>
  k.op(`i32.${elementOf(type)}_from_f64`, relu ? k.op("f64.relu", x) : x);

/** Converts two binary32 operands to a pair; `a` becomes the upper element. */
function fromSingles(k: Kit, a: Expr, b: Expr, type: MinifloatPair, relu: boolean): Expr {
  const one = (x: Expr) => narrow(k, floatToNumber(k, "f32", x), type, relu);
  return joined(k, one(a), one(b), spacing(type));
}

function fromHalves(k: Kit, a: Expr, from: HalfPair, type: MinifloatPair, relu: boolean): Expr {
  const half = from === "f16x2" ? "f16" : "bf16";
  const one = (at: number) => narrow(k, floatToNumber(k, half, k.field(a, at, 16, false)), type, relu);
  return joined(k, one(16), one(0), spacing(type));
}

function toHalves(k: Kit, a: Expr, type: MinifloatPair, relu: boolean): Expr {
  const one = (at: number) => {
    const x = k.op(`f64.from_${elementOf(type)}`, k.shr(a, k.i32(at), false));
    return k.op("i32.f16_from_f64_rn", relu ? k.op("f64.relu", x) : x);
  };
  return joined(k, one(spacing(type)), one(0), 16);
}

const f8 = { since: "7.8", target: "sm_89", anyOrder: true } as const;
const family = ["sm_100f", "sm_110f", "sm_120f"] as const;
const small = { since: "8.6", target: family, anyOrder: true } as const;
const latest = { since: "9.1", target: family, anyOrder: true } as const;
const stochastic = {
  since: "8.7",
  anyOrder: true,
  target: ["sm_100a", "sm_103a"],
  unimplemented: "the manual shows only in a figure how the random bits align with the discarded bits",
} as const;
const singles = { d: "type", a: "f32", b: "f32" } as const;
const fromPair = { d: "type", a: "from" } as const;
const fromFour = { d: "type", v: "f32[4]", rbits: "reg b32" } as const;
const smallTypes = [...f6x2type, ...f4x2type] as const;

/** Conversions to and from the formats of 8, 6 and 4 bits, packed in pairs or fours. */
export const minifloatForms = [
  form("cvt.rn.satfinite{.relu}.type.f32 d, a, b", {
    where: { type: f8x2type },
    ...f8,
    operands: singles,
    sem: (k, { a, b }, { type, relu }) => fromSingles(k, a, b, type, relu),
  }),
  form("cvt.rn.satfinite{.relu}.type.from d, a", {
    where: { type: f8x2type, from: fp16x2type },
    ...f8,
    gates: { bf16x2: { since: "9.1", target: family } },
    operands: fromPair,
    sem: (k, { a }, { type, from, relu }) => fromHalves(k, a, from, type, relu),
  }),
  form("cvt.rn{.relu}.f16x2.type d, a", {
    where: { type: f8x2type },
    ...f8,
    operands: { d: "f16x2", a: "type" },
    sem: (k, { a }, { type, relu }) => toHalves(k, a, type, relu),
  }),
  form("cvt.rn.satfinite{.relu}.type.f32 d, a, b", {
    where: { type: smallTypes },
    ...small,
    operands: singles,
    sem: (k, { a, b }, { type, relu }) => fromSingles(k, a, b, type, relu),
  }),
  // The manual has these from 9.1 on, but ptxas 9.0 accepts the conversion from f16x2 to e2m1x2 from 8.6 on.
  form("cvt.rn.satfinite{.relu}.e2m1x2.f16x2 d, a", {
    ...small,
    operands: { d: "e2m1x2", a: "f16x2" },
    sem: (k, { a }, { relu }) => fromHalves(k, a, "f16x2", "e2m1x2", relu),
  }),
  form("cvt.rn.satfinite{.relu}.type.from d, a", {
    where: { type: smallTypes, from: fp16x2type },
    ...latest,
    operands: fromPair,
    invalid: ({ type, from }) => (type === "e2m1x2" && from === "f16x2" ? "another form has these types" : null),
    sem: (k, { a }, { type, from, relu }) => fromHalves(k, a, from, type, relu),
  }),
  form("cvt.rn{.relu}.f16x2.type d, a", {
    where: { type: smallTypes },
    ...small,
    operands: { d: "f16x2", a: "type" },
    sem: (k, { a }, { type, relu }) => toHalves(k, a, type, relu),
  }),
  form("cvt.rs.satfinite{.relu}.type.f32 d, v, rbits", {
    where: { type: ["e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"] },
    ...stochastic,
    operands: fromFour,
  }),
] as const;
