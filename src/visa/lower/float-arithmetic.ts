import { fileLayout } from "../../ir/index.ts";
import { type Expr, kit as k, type PrimName } from "../../semantics/index.ts";
import type { FloatArithmetic } from "../isa/execution.ts";

/** Formats in which arithmetic is done; values of the 16-bit ones are held as `f32`. */
export type FloatFormat = "f16" | "bf16" | "f32" | "f64";

/** The control register: the modes of floating-point arithmetic, the same for all channels. */
export const control: Expr = {
  kind: "region",
  ty: "i32",
  bits: 32,
  signed: false,
  region: { at: fileLayout.cr0.at, first: 0, vertical: 0, width: 1, horizontal: 0 },
};

/** Functions that take the magnitude of their operand in the alternative mode (2_datatypes.md). */
const ofMagnitude: ReadonlySet<string> = new Set(["lg2", "rsqrt"]);

const arithmeticIn = (format: FloatFormat): FloatArithmetic => {
  const ty = format === "f64" ? "f64" : "f32";
  const suffix = format === "f16" || format === "bf16" ? `_${format}` : "";
  const controlled = (name: string, ...a: Expr[]): Expr =>
    k.op(`${ty}.${name}_mode${suffix}` as PrimName, control, ...a);
  const operand = (a: Expr): Expr => controlled("operand", a);
  const widen = (a: Expr): Expr => (ty === "f64" ? a : k.op("f64.from_f32", a));
  const narrow = (a: Expr): Expr => (ty === "f64" ? a : k.op("f32.from_f64_rn", a));
  const negated = (a: Expr): Expr => k.op(`${ty}.neg`, a);
  return {
    ty,
    add: (a, b) => controlled("add", a, b),
    sub: (a, b) => controlled("add", a, negated(b)),
    mul: (a, b) => controlled("mul", a, b),
    fma: (a, b, c) => controlled("fma", a, b, c),
    div: (a, b) => controlled("div", a, b),
    sqrt: (a) => controlled("sqrt", a),
    min: (a, b) => k.op(`${ty}.min`, operand(a), operand(b)),
    max: (a, b) => k.op(`${ty}.max`, operand(a), operand(b)),
    constant: (value) => (ty === "f64" ? k.f64(value) : k.f32(value)),
    integral: (direction, a) => narrow(k.op(`f64.${direction}`, widen(operand(a)))),
    approximate: (name, ...a) => {
      const operandMode = ofMagnitude.has(name) ? "f32.radicand_mode" : "f32.operand_mode";
      const operands = a.map((x) => k.op(operandMode, control, x));
      return k.op("f32.result_mode", control, k.op(`f32.${name}`, ...operands));
    },
  };
};

export const floatArithmetic: Readonly<Record<FloatFormat, FloatArithmetic>> = {
  f16: arithmeticIn("f16"),
  bf16: arithmeticIn("bf16"),
  f32: arithmeticIn("f32"),
  f64: arithmeticIn("f64"),
};

/** An operand of a comparison: subnormal numbers count as zeros if %cr0 says so. */
export const comparable = (format: FloatFormat, a: Expr): Expr =>
  format === "f64"
    ? k.op("f64.operand_mode", control, a)
    : k.op(format === "f32" ? "f32.operand_mode" : `f32.operand_mode_${format}`, control, a);
