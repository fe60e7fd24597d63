import { addToOdd, divideToOdd, fmaToOdd, sqrtToOdd, towardZero32, upward32 } from "./binary32.ts";
import { add64, div64, fma64, mul64, sqrt64 } from "./binary64.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "./half.ts";

/**
 * The floating-point modes of a control register (vISA's %cr0): bit 0 selects the alternative mode of binary32; bits 4
 * and 5 hold the rounding mode; bits 6, 7 and 10 keep subnormal numbers of binary64, of binary32 and bf16, and of
 * binary16, which are otherwise flushed to zeros of their sign.
 */
export type FloatControl = number;

type Mode = "rn" | "rp" | "rm" | "rz";
const modes: readonly Mode[] = ["rn", "rp", "rm", "rz"];
/** The rounding mode that a control register selects. */
export const roundingOf = (control: FloatControl): Mode => modes[(control >> 4) & 3]!;

/** A floating-point format. Operands and results are doubles that hold values of the format. */
interface Format {
  /** The control register bit that keeps subnormal numbers. */
  readonly keeps: number;
  readonly minNormal: number;
  /**
   * The largest finite number, which replaces infinities in the alternative mode; null if that mode does not affect the
   * format.
   */
  readonly maxFinite: number | null;
  readonly round: (x: number, mode: Exclude<Mode, "rm">) => number;
}

const round32 = (x: number, mode: Exclude<Mode, "rm">): number =>
  mode === "rn" ? Math.fround(x) : mode === "rp" ? upward32(x) : towardZero32(x);

/** The formats up to 32 bits whose arithmetic the control register affects. */
export const controlled = {
  f32: { keeps: 0x80, minNormal: 2 ** -126, maxFinite: (2 - 2 ** -23) * 2 ** 127, round: round32 },
  f16: {
    keeps: 0x400,
    minNormal: 2 ** -14,
    maxFinite: null,
    round: (x, mode) => f16ToNumber(numberToF16(x, mode)),
  },
  bf16: {
    keeps: 0x80,
    minNormal: 2 ** -126,
    maxFinite: null,
    round: (x, mode) => bf16ToNumber(numberToBf16(x, mode)),
  },
} as const satisfies Readonly<Record<string, Format>>;

const keepsBinary64 = 0x40;
const minNormal64 = 2 ** -1022;

/** Returns an operand, with a subnormal number flushed to zero unless the control register keeps it. */
export const operandOf = (control: FloatControl, { keeps, minNormal }: Format, x: number): number =>
  (control & keeps) === 0 && x < minNormal && x > -minNormal ? x * 0 : x;

/** The same for binary64. */
export const operand64 = (control: FloatControl, x: number): number =>
  (control & keepsBinary64) === 0 && x < minNormal64 && x > -minNormal64 ? x * 0 : x;

/** Adjusts a rounded result: flushes it like an operand, and replaces infinities in the alternative mode. */
export function resultOf(control: FloatControl, format: Format, x: number): number {
  if ((control & 1) !== 0 && format.maxFinite !== null) {
    if (x === Infinity) return format.maxFinite;
    if (x === -Infinity) return -format.maxFinite;
  }
  return operandOf(control, format, x);
}

/**
 * Rounds a result that is exact or rounded to odd. Rounding down is the mirror image of rounding up: `exact(-1)` is the
 * negated result, computed from negated operands so that a zero gets the right sign.
 */
function rounded(control: FloatControl, format: Format, exact: (sign: 1 | -1) => number): number {
  const mode = roundingOf(control);
  const value = mode === "rm" ? -format.round(exact(-1), "rp") : format.round(exact(1), mode);
  return resultOf(control, format, value);
}

/** Rounds a double to a format. */
export const roundControlled = (control: FloatControl, format: Format, x: number): number =>
  rounded(control, format, (sign) => sign * x);

/** `x + y` in a format. */
export function addControlled(control: FloatControl, format: Format, x: number, y: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  return rounded(control, format, (sign) => addToOdd(sign * a, sign * b));
}

/** `x * y` in a format. */
export function mulControlled(control: FloatControl, format: Format, x: number, y: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  // Exact: the product of two binary32 significands has 48 bits.
  return rounded(control, format, (sign) => sign * a * b);
}

/** `x * y + z` in a format, rounded once. */
export function fmaControlled(control: FloatControl, format: Format, x: number, y: number, z: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  const c = operandOf(control, format, z);
  return rounded(control, format, (sign) => fmaToOdd(sign * a, b, sign * c));
}

/** `x / y` in a format. */
export function divControlled(control: FloatControl, format: Format, x: number, y: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  return rounded(control, format, (sign) => divideToOdd(sign * a, b));
}

/** The square root in a format; in the alternative mode, that of the magnitude. */
export function sqrtControlled(control: FloatControl, format: Format, x: number): number {
  const a = radicand(control, format, x);
  return rounded(control, format, (sign) => sign * sqrtToOdd(a));
}

/** Returns the operand of a root or logarithm; in the alternative mode, its magnitude. */
export function radicand(control: FloatControl, format: Format, x: number): number {
  const a = operandOf(control, format, x);
  return (control & 1) !== 0 && format.maxFinite !== null ? Math.abs(a) : a;
}

/** `x + y` in binary64. */
export function add64Controlled(control: FloatControl, x: number, y: number): number {
  const a = operand64(control, x);
  const b = operand64(control, y);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? a + b : add64(a, b, mode));
}

/** `x * y` in binary64. */
export function mul64Controlled(control: FloatControl, x: number, y: number): number {
  const a = operand64(control, x);
  const b = operand64(control, y);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? a * b : mul64(a, b, mode));
}

/** `a * b + c` in binary64, rounded once. */
export const fma64Controlled = (control: FloatControl, a: number, b: number, c: number): number =>
  operand64(control, fma64(operand64(control, a), operand64(control, b), operand64(control, c), roundingOf(control)));

/** `x / y` in binary64. */
export function div64Controlled(control: FloatControl, x: number, y: number): number {
  const a = operand64(control, x);
  const b = operand64(control, y);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? a / b : div64(a, b, mode));
}

/** The square root in binary64. */
export function sqrt64Controlled(control: FloatControl, x: number): number {
  const a = operand64(control, x);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? Math.sqrt(a) : sqrt64(a, mode));
}
