import { fma32, fmaToOdd } from "../../numeric/binary32.ts";
import {
  add64Controlled,
  addControlled,
  controlled,
  div64Controlled,
  divControlled,
  fma64Controlled,
  fmaControlled,
  mul64Controlled,
  mulControlled,
  operand64,
  operandOf,
  radicand,
  resultOf,
  roundControlled,
  roundingOf,
  sqrt64Controlled,
  sqrtControlled,
} from "../../numeric/float-control.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import { integerToNumber } from "../../numeric/integer-conversion.ts";
import { expanded, type Expansion, named } from "../expansion.ts";
import { convertPrims } from "./convert.ts";
import { floatPrims } from "./float.ts";
import {
  as,
  emitBf16,
  emitF16,
  emitOperand,
  emitRadicand,
  emitResult,
  toNearest,
  usual16,
  usual32,
  usual64,
  usualBf16,
  usually,
} from "./float-control-wasm.ts";

const { f32, f16, bf16 } = controlled;

const isUsual32 = (control: number): boolean => (control & usual32.bits) === usual32.value;
const isUsual16 = (control: number): boolean => (control & usual16.bits) === usual16.value;
const isUsualBf16 = (control: number): boolean => (control & usualBf16.bits) === usualBf16.value;
const isUsual64 = (control: number): boolean => (control & usual64.bits) === usual64.value;

const nearest16 = (x: number): number => f16ToNumber(numberToF16(x));
const nearestBf16 = (x: number): number => bf16ToNumber(numberToBf16(x));

type ShortOperation = "add" | "mul" | "fma" | "div" | "sqrt";
type ShortRow<N extends string> = `f32.${ShortOperation}_mode_${N}`;

/**
 * Returns the rows of a 16-bit format. To nearest, the operation on doubles is precise enough for a second rounding
 * (`nearest`), except for the fused multiply-add, which is rounded to odd first.
 */
function shortRows<N extends "f16" | "bf16">(
  name: N,
  format: typeof f16 | typeof bf16,
  isUsual: (control: number) => boolean,
  nearest: (x: number) => number,
  emit: Readonly<Record<ShortOperation, Expansion>>,
) {
  const rows = {
    add: expanded(
      ["i32", "f32", "f32"],
      "f32",
      (m, a, b) => (isUsual(m) ? nearest(a + b) : addControlled(m, format, a, b)),
      emit.add,
    ),
    mul: expanded(
      ["i32", "f32", "f32"],
      "f32",
      (m, a, b) => (isUsual(m) ? nearest(a * b) : mulControlled(m, format, a, b)),
      emit.mul,
    ),
    fma: expanded(
      ["i32", "f32", "f32", "f32"],
      "f32",
      (m, a, b, c) => (isUsual(m) ? nearest(fmaToOdd(a, b, c)) : fmaControlled(m, format, a, b, c)),
      emit.fma,
    ),
    div: expanded(
      ["i32", "f32", "f32"],
      "f32",
      (m, a, b) => (isUsual(m) ? nearest(a / b) : divControlled(m, format, a, b)),
      emit.div,
    ),
    sqrt: expanded(["i32", "f32"], "f32", (m, a) => sqrtControlled(m, format, a), emit.sqrt),
  };
  const named = Object.entries(rows).map(([operation, row]) => [`f32.${operation}_mode_${name}`, row]);
  return Object.fromEntries(named) as { readonly [K in ShortRow<N>]: (typeof rows)["add"] };
}

/**
 * Floating-point arithmetic with the modes in the first operand, in the layout of vISA's %cr0 (`FloatControl`). The
 * suffixes `_f16` and `_bf16` mean numbers of these formats, passed and returned as the binary32 numbers that they
 * equal. When rounding to nearest, the operation on doubles is precise enough for a second rounding.
 */
export const floatControlPrims = named({
  "f32.add_mode": expanded(
    ["i32", "f32", "f32"],
    "f32",
    (m, a, b) => (isUsual32(m) ? Math.fround(a + b) : addControlled(m, f32, a, b)),
    usually(usual32, as(floatPrims["f32.add"])),
  ),
  "f32.mul_mode": expanded(
    ["i32", "f32", "f32"],
    "f32",
    (m, a, b) => (isUsual32(m) ? Math.fround(a * b) : mulControlled(m, f32, a, b)),
    usually(usual32, as(floatPrims["f32.mul"])),
  ),
  "f32.fma_mode": expanded(
    ["i32", "f32", "f32", "f32"],
    "f32",
    (m, a, b, c) => (isUsual32(m) ? fma32(a, b, c) : fmaControlled(m, f32, a, b, c)),
    usually(usual32, as(floatPrims["f32.fma"])),
  ),
  "f32.div_mode": expanded(
    ["i32", "f32", "f32"],
    "f32",
    (m, a, b) => (isUsual32(m) ? Math.fround(a / b) : divControlled(m, f32, a, b)),
    usually(usual32, as(floatPrims["f32.div"])),
  ),
  "f32.sqrt_mode": expanded(
    ["i32", "f32"],
    "f32",
    (m, a) => (isUsual32(m) ? Math.fround(Math.sqrt(a)) : sqrtControlled(m, f32, a)),
    usually(usual32, as(floatPrims["f32.sqrt"])),
  ),
  /** Adjusts an operand, a result, and the operand of a root or logarithm to the modes. */
  "f32.operand_mode": expanded(["i32", "f32"], "f32", (m, a) => operandOf(m, f32, a), emitOperand.f32),
  "f32.result_mode": expanded(["i32", "f32"], "f32", (m, a) => resultOf(m, f32, a), emitResult),
  "f32.radicand_mode": expanded(["i32", "f32"], "f32", (m, a) => radicand(m, f32, a), emitRadicand),

  ...shortRows("f16", f16, isUsual16, nearest16, emitF16),
  "f32.operand_mode_f16": expanded(["i32", "f32"], "f32", (m, a) => operandOf(m, f16, a), emitOperand.f16),
  ...shortRows("bf16", bf16, isUsualBf16, nearestBf16, emitBf16),
  "f32.operand_mode_bf16": expanded(["i32", "f32"], "f32", (m, a) => operandOf(m, bf16, a), emitOperand.f32),

  "f64.add_mode": expanded(
    ["i32", "f64", "f64"],
    "f64",
    (m, a, b) => (isUsual64(m) ? a + b : add64Controlled(m, a, b)),
    usually(usual64, as(floatPrims["f64.add"])),
  ),
  "f64.mul_mode": expanded(
    ["i32", "f64", "f64"],
    "f64",
    (m, a, b) => (isUsual64(m) ? a * b : mul64Controlled(m, a, b)),
    usually(usual64, as(floatPrims["f64.mul"])),
  ),
  "f64.fma_mode": expanded(
    ["i32", "f64", "f64", "f64"],
    "f64",
    fma64Controlled,
    usually(usual64, as(floatPrims["f64.fma"])),
  ),
  "f64.div_mode": expanded(
    ["i32", "f64", "f64"],
    "f64",
    (m, a, b) => (isUsual64(m) ? a / b : div64Controlled(m, a, b)),
    usually(usual64, as(floatPrims["f64.div"])),
  ),
  "f64.sqrt_mode": expanded(
    ["i32", "f64"],
    "f64",
    (m, a) => (isUsual64(m) ? Math.sqrt(a) : sqrt64Controlled(m, a)),
    usually(usual64, as(floatPrims["f64.sqrt"])),
  ),
  "f64.operand_mode": expanded(["i32", "f64"], "f64", operand64, emitOperand.f64),

  /** Conversions to narrower formats; those to 16 bits give patterns. */
  "f32.from_f64_mode": expanded(
    ["i32", "f64"],
    "f32",
    (m, a) => (isUsual32(m) ? Math.fround(a) : roundControlled(m, f32, a)),
    usually(usual32, as(convertPrims["f32.from_f64_rn"])),
  ),
  "i32.f16_from_f64_mode": expanded(
    ["i32", "f64"],
    "i32",
    (m, a) => (isUsual16(m) ? numberToF16(a) : numberToF16(roundControlled(m, f16, a))),
    usually(usual16, as(convertPrims["i32.f16_from_f64_rn"])),
  ),
  "i32.bf16_from_f64_mode": expanded(
    ["i32", "f64"],
    "i32",
    (m, a) => (isUsualBf16(m) ? numberToBf16(a) : numberToBf16(roundControlled(m, bf16, a))),
    usually(usualBf16, as(convertPrims["i32.bf16_from_f64_rn"])),
  ),
  "f64.from_i64_s_mode": expanded(
    ["i32", "i64"],
    "f64",
    (m, a) => integerToNumber(a, roundingOf(m)),
    usually(toNearest, as(convertPrims["f64.from_i64_s_rn"])),
  ),
  "f64.from_i64_u_mode": expanded(
    ["i32", "i64"],
    "f64",
    (m, a) => integerToNumber(BigInt.asUintN(64, a), roundingOf(m)),
    usually(toNearest, as(convertPrims["f64.from_i64_u_rn"])),
  ),
});

/** A row whose first operand is a control word, in modes in which it is simpler. */
interface Simpler {
  /** The bits of the control word that matter, and their value in these modes. */
  readonly modes: { readonly bits: number; readonly value: number };
  /** The primitive that it then equals, over the other operands; null: its operand. */
  readonly prim: string | null;
}

const kept = (bit: number): Simpler => ({ modes: { bits: bit, value: bit }, prim: null });
const keptInIeee: Simpler = { modes: { bits: 0x81, value: 0x80 }, prim: null };

/** By primitive, what it is in the modes that compiled kernels select. */
const simpler: ReadonlyMap<string, Simpler> = new Map([
  ...(["add", "mul", "fma", "div", "sqrt"] as const).flatMap((name): [string, Simpler][] => [
    [`f32.${name}_mode`, { modes: usual32, prim: `f32.${name}` }],
    [`f64.${name}_mode`, { modes: usual64, prim: `f64.${name}` }],
  ]),
  ["f32.operand_mode", kept(0x80)],
  ["f32.operand_mode_f16", kept(0x400)],
  ["f32.operand_mode_bf16", kept(0x80)],
  ["f64.operand_mode", kept(0x40)],
  ["f32.result_mode", keptInIeee],
  ["f32.radicand_mode", keptInIeee],
  ["f32.from_f64_mode", { modes: usual32, prim: "f32.from_f64_rn" }],
  ["i32.f16_from_f64_mode", { modes: usual16, prim: "i32.f16_from_f64_rn" }],
  ["i32.bf16_from_f64_mode", { modes: usualBf16, prim: "i32.bf16_from_f64_rn" }],
  ["f64.from_i64_s_mode", { modes: toNearest, prim: "f64.from_i64_s_rn" }],
  ["f64.from_i64_u_mode", { modes: toNearest, prim: "f64.from_i64_u_rn" }],
]);

/**
 * The simpler primitive that one with a constant control word equals; `null` is its second operand, undefined: none.
 */
export function inModes(prim: string, control: number): string | null | undefined {
  const found = simpler.get(prim);
  return found !== undefined && (control & found.modes.bits) === found.modes.value ? found.prim : undefined;
}
