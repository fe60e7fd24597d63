import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { floatToNumber, joined, type Limits, limited, numberToFloat } from "./number.ts";

const frnd2 = ["rn", "rz"] as const;
const limitGates = { relu: { since: "7.0", target: "sm_80" }, satfinite: { since: "8.1" } } as const;
const stochastic = { since: "8.7", target: ["sm_100a", "sm_103a"], anyOrder: true } as const;
type Half = "f16" | "bf16";

interface Chosen extends Limits {
  readonly frnd2: "rn" | "rz";
}

/** Converts a binary32 operand to f16 or bf16. */
const half = (k: Kit, type: Half, a: Expr, m: Chosen): Expr =>
  numberToFloat(k, type, limited(k, floatToNumber(k, "f32", a), type, m), m.frnd2);

/** Converts two binary32 operands to a pair; `a` becomes the upper half. */
const pair =
  (type: Half) =>
  (k: Kit, { a, b }: Readonly<Record<"a" | "b", Expr>>, m: Chosen): Expr =>
    joined(k, half(k, type, a, m), half(k, type, b, m), 16);

/** The same with stochastic rounding: the upper half of `rbits` rounds `a`, the lower half `b`. */
const randomPair =
  (type: Half) =>
  (k: Kit, { a, b, rbits }: Readonly<Record<"a" | "b" | "rbits", Expr>>, m: Limits): Expr => {
    const one = (x: Expr, random: Expr) =>
      k.op(`i32.${type}_from_f64_rs`, limited(k, floatToNumber(k, "f32", x), type, m), random);
    return joined(k, one(a, k.shr(rbits, k.i32(16), false)), one(b, rbits), 16);
  };

const tf32 = (k: Kit, a: Expr, rounding: "rn" | "rz" | "rna", m: Limits): Expr =>
  k.op(`i32.tf32_from_f64_${rounding}`, limited(k, floatToNumber(k, "f32", a), "tf32", m));

const f32Pair = { a: "f32", b: "f32" } as const;

/** Conversions from binary32 to f16, bf16, pairs of these, and tf32, with `.relu` and `.satfinite`. */
export const halfForms = [
  form("cvt.frnd2{.relu}{.satfinite}.f16.f32 d, a", {
    where: { frnd2 },
    since: "7.0",
    anyOrder: true,
    gates: limitGates,
    operands: { d: "f16", a: "f32" },
    invalid: ({ relu, satfinite }) => (relu || satfinite ? null : "neither '.relu' nor '.satfinite' is written"),
    sem: (k, { a }, m) => half(k, "f16", a, m),
  }),
  form("cvt.frnd2{.relu}{.satfinite}.bf16.f32 d, a", {
    where: { frnd2 },
    since: "7.0",
    anyOrder: true,
    target: "sm_80",
    gates: limitGates,
    operands: { d: "bf16", a: "f32" },
    invalid: ({ relu, satfinite }) => (relu || satfinite ? null : "neither '.relu' nor '.satfinite' is written"),
    sem: (k, { a }, m) => half(k, "bf16", a, m),
  }),
  form("cvt.frnd2{.relu}{.satfinite}.f16x2.f32 d, a, b", {
    where: { frnd2 },
    since: "7.0",
    anyOrder: true,
    target: "sm_80",
    gates: limitGates,
    operands: { d: "f16x2", ...f32Pair },
    sem: pair("f16"),
  }),
  form("cvt.frnd2{.relu}{.satfinite}.bf16x2.f32 d, a, b", {
    where: { frnd2 },
    since: "7.0",
    anyOrder: true,
    target: "sm_80",
    gates: limitGates,
    operands: { d: "bf16x2", ...f32Pair },
    sem: pair("bf16"),
  }),
  form("cvt.rs{.relu}{.satfinite}.f16x2.f32 d, a, b, rbits", {
    ...stochastic,
    operands: { d: "f16x2", ...f32Pair, rbits: "reg b32" },
    sem: randomPair("f16"),
  }),
  form("cvt.rs{.relu}{.satfinite}.bf16x2.f32 d, a, b, rbits", {
    ...stochastic,
    operands: { d: "bf16x2", ...f32Pair, rbits: "reg b32" },
    sem: randomPair("bf16"),
  }),
  form("cvt.rna{.satfinite}.tf32.f32 d, a", {
    since: "7.0",
    anyOrder: true,
    target: "sm_80",
    gates: { satfinite: { since: "8.1" } },
    operands: { d: "tf32", a: "f32" },
    sem: (k, { a }, { satfinite }) => tf32(k, a, "rna", { relu: false, satfinite }),
  }),
  form("cvt.frnd2{.satfinite}{.relu}.tf32.f32 d, a", {
    where: { frnd2 },
    since: "7.8",
    anyOrder: true,
    target: "sm_90",
    gates: { satfinite: { since: "8.6", target: "sm_100" } },
    operands: { d: "tf32", a: "f32" },
    sem: (k, { a }, m) => tf32(k, a, m.frnd2, m),
  }),
] as const;
