import { addToOdd, divideToOdd, fmaToOdd, sqrtToOdd, towardZero32, upward32 } from "./binary32.ts";
import { add64, div64, fma64, mul64, sqrt64 } from "./binary64.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "./half.ts";

/**
 * Floating-point arithmetic as a control register says (vISA's %cr0): bit 0 asks for the alternative mode of binary32, bits
 * 4 and 5 hold the rounding mode, bits 6, 7 and 10 keep subnormal numbers of binary64, binary32 (and bf16) and binary16,
 * which are zeros of their sign otherwise.
 */
export type FloatControl = number;

type Mode = "rn" | "rp" | "rm" | "rz";
const modes: readonly Mode[] = ["rn", "rp", "rm", "rz"];
export const roundingOf = (control: FloatControl): Mode => modes[(control >> 4) & 3]!;

/** A format of binary32 operands and results; their values are doubles. */
interface Format {
  /** The bit of the control register that keeps subnormal numbers. */
  readonly keeps: number;
  readonly leastNormal: number;
  /** Whether the alternative mode knows the format, and its greatest number. */
  readonly greatest: number | null;
  readonly round: (x: number, mode: Exclude<Mode, "rm">) => number;
}

const round32 = (x: number, mode: Exclude<Mode, "rm">): number =>
  mode === "rn" ? Math.fround(x) : mode === "rp" ? upward32(x) : towardZero32(x);

export const controlled = {
  f32: { keeps: 0x80, leastNormal: 2 ** -126, greatest: (2 - 2 ** -23) * 2 ** 127, round: round32 },
  f16: {
    keeps: 0x400,
    leastNormal: 2 ** -14,
    greatest: null,
    round: (x, mode) => f16ToNumber(numberToF16(x, mode)),
  },
  bf16: {
    keeps: 0x80,
    leastNormal: 2 ** -126,
    greatest: null,
    round: (x, mode) => bf16ToNumber(numberToBf16(x, mode)),
  },
} as const satisfies Readonly<Record<string, Format>>;

const keepsBinary64 = 0x40;
const leastNormal64 = 2 ** -1022;

/** An operand: what is subnormal becomes a zero where the control register says so. */
export const operandOf = (control: FloatControl, { keeps, leastNormal }: Format, x: number): number =>
  (control & keeps) === 0 && x < leastNormal && x > -leastNormal ? x * 0 : x;

export const operand64 = (control: FloatControl, x: number): number =>
  (control & keepsBinary64) === 0 && x < leastNormal64 && x > -leastNormal64 ? x * 0 : x;

/** A rounded result: subnormal ones as operands; the alternative mode has no infinities. */
export function resultOf(control: FloatControl, format: Format, x: number): number {
  if ((control & 1) !== 0 && format.greatest !== null) {
    if (x === Infinity) return format.greatest;
    if (x === -Infinity) return -format.greatest;
  }
  return operandOf(control, format, x);
}

/**
 * Rounds an exact result, or one rounded to odd. Downwards is the mirror image of upwards: `exact(-1)` is the negated
 * result, made from negated operands so that the sign of a zero comes out right.
 */
function rounded(control: FloatControl, format: Format, exact: (sign: 1 | -1) => number): number {
  const mode = roundingOf(control);
  const value = mode === "rm" ? -format.round(exact(-1), "rp") : format.round(exact(1), mode);
  return resultOf(control, format, value);
}

/** A double in a format. */
export const roundControlled = (control: FloatControl, format: Format, x: number): number =>
  rounded(control, format, (sign) => sign * x);

export function addControlled(control: FloatControl, format: Format, x: number, y: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  return rounded(control, format, (sign) => addToOdd(sign * a, sign * b));
}

export function mulControlled(control: FloatControl, format: Format, x: number, y: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  // Two binary32 significands have 48 bits together.
  return rounded(control, format, (sign) => sign * a * b);
}

export function fmaControlled(control: FloatControl, format: Format, x: number, y: number, z: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  const c = operandOf(control, format, z);
  return rounded(control, format, (sign) => fmaToOdd(sign * a, b, sign * c));
}

export function divControlled(control: FloatControl, format: Format, x: number, y: number): number {
  const a = operandOf(control, format, x);
  const b = operandOf(control, format, y);
  return rounded(control, format, (sign) => divideToOdd(sign * a, b));
}

/** In the alternative mode the root of the magnitude. */
export function sqrtControlled(control: FloatControl, format: Format, x: number): number {
  const a = radicand(control, format, x);
  return rounded(control, format, (sign) => sign * sqrtToOdd(a));
}

/** The operand of roots and logarithms. */
export function radicand(control: FloatControl, format: Format, x: number): number {
  const a = operandOf(control, format, x);
  return (control & 1) !== 0 && format.greatest !== null ? Math.abs(a) : a;
}

export function add64Controlled(control: FloatControl, x: number, y: number): number {
  const a = operand64(control, x);
  const b = operand64(control, y);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? a + b : add64(a, b, mode));
}

export function mul64Controlled(control: FloatControl, x: number, y: number): number {
  const a = operand64(control, x);
  const b = operand64(control, y);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? a * b : mul64(a, b, mode));
}

export const fma64Controlled = (control: FloatControl, a: number, b: number, c: number): number =>
  operand64(control, fma64(operand64(control, a), operand64(control, b), operand64(control, c), roundingOf(control)));

export function div64Controlled(control: FloatControl, x: number, y: number): number {
  const a = operand64(control, x);
  const b = operand64(control, y);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? a / b : div64(a, b, mode));
}

export function sqrt64Controlled(control: FloatControl, x: number): number {
  const a = operand64(control, x);
  const mode = roundingOf(control);
  return operand64(control, mode === "rn" ? Math.sqrt(a) : sqrt64(a, mode));
}
