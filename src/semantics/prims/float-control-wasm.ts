import { type Wasm, wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { byParts, type Form } from "../form.ts";
import type { Prim } from "../prim.ts";
import { flushedBelow } from "./float-wasm.ts";
import { fmaToOdd, oddIn32, sqrtToOdd } from "./rounding-wasm.ts";
import { bf16, decoded, encoded, f16, type ShortFloat } from "./short-float-wasm.ts";

/**
 * Arithmetic whose modes are in a control word. The usual modes, in which a row equals another primitive, are expanded;
 * for all others `eval` is called.
 */

/**
 * The value of the relevant bits of a control word in the usual modes: round to nearest, keep subnormal numbers, no
 * alternative mode. Compiled kernels select these modes at their start.
 */
interface Usual {
  readonly bits: number;
  readonly value: number;
}
export const usual32: Usual = { bits: 0xb1, value: 0x80 };
export const usual16: Usual = { bits: 0x430, value: 0x400 };
export const usualBf16: Usual = { bits: 0xb0, value: 0x80 };
export const usual64: Usual = { bits: 0x70, value: 0x40 };
export const toNearest: Usual = { bits: 0x30, value: 0 };

type Expand = Expansion["expand"];

/** Returns the expansion of a row whose first operand is the control word; `expand` takes the other operands. */
export const usually = ({ bits, value }: Usual, expand: Expand): Expansion => ({
  applies: ({ count, singles: s }, control) => {
    // With two lanes the upper half is undefined.
    const words = count === 2 ? wasm.shuffle32(control, control, [0, 1, 0, 1]) : control;
    return s.all(s.same(s.and(words, s.integer(BigInt(bits))), s.integer(BigInt(value))));
  },
  expand: (form, _, ...operands) => expand(form, ...operands),
});

/** Expands like another primitive. */
export const as =
  ({ wasm }: Prim): Expand =>
  (form, ...operands) =>
    wasm[form.name]!(...operands);

/** Computes on doubles and rounds to a short format; the result is the binary32 number that it equals. */
const nearestShort =
  (format: ShortFloat, operation: (d: Form["doubles"], ...operands: Wasm[]) => Wasm): Expand =>
  (form, ...operands) => {
    const { singles: s, doubles: d } = form;
    const results = byParts(operands.map(form.widened), (...parts) => operation(d, ...parts));
    return decoded(s, encoded(s, oddIn32(form, results), format), format);
  };

const arithmetic = (format: ShortFloat, usual: Usual) => ({
  add: usually(
    usual,
    nearestShort(format, (d, a, b) => d.add(a, b)),
  ),
  mul: usually(
    usual,
    nearestShort(format, (d, a, b) => d.mul(a, b)),
  ),
  div: usually(
    usual,
    nearestShort(format, (d, a, b) => d.div(a, b)),
  ),
  fma: usually(usual, nearestShort(format, fmaToOdd)),
  sqrt: usually(usual, nearestShort(format, sqrtToOdd)),
});
export const emitF16 = arithmetic(f16, usual16);
export const emitBf16 = arithmetic(bf16, usualBf16);

/** Returns where a bit of the control word is set, as predicates of binary32 numbers. */
const isSet = ({ singles: s }: Form, control: Wasm, bit: number): Wasm =>
  s.not(s.same(s.and(control, s.integer(BigInt(bit))), s.integer(0n)));
const KEEPS_16 = 0x400;
const KEEPS_32 = 0x80;
const KEEPS_64 = 0x40;
const ALTERNATIVE = 1;

const operand =
  (keeps: number, minNormal: number): Expand =>
  (form, control, x) =>
    form.singles.select(isSet(form, control, keeps), x, flushedBelow(form.singles, x, minNormal));
const operand32 = operand(KEEPS_32, 2 ** -126);

export const emitOperand = {
  f32: { expand: operand32 },
  f16: { expand: operand(KEEPS_16, 2 ** -14) },
  f64: {
    expand: ({ doubles: d, extended }, control, x) => {
      const flushes = d.same(d.and(extended(control), d.integer(BigInt(KEEPS_64))), d.integer(0n));
      return d.select(flushes, flushedBelow(d, x, 2 ** -1022), x);
    },
  },
} satisfies Readonly<Record<string, Expansion>>;

/** The alternative mode has no infinities. */
export const emitResult: Expansion = {
  expand: (form, control, x) => {
    const { singles: s } = form;
    const infinite = s.both(isSet(form, control, ALTERNATIVE), s.eq(s.abs(x), s.number(Infinity)));
    // The pattern before that of infinity is the largest finite number.
    return operand32(form, control, s.fromBits(s.plus(s.bits(x), s.mask(infinite))));
  },
};

/** In the alternative mode, roots and logarithms take the magnitude. */
export const emitRadicand: Expansion = {
  expand: (form, control, x) => {
    const value = operand32(form, control, x);
    return form.singles.select(isSet(form, control, ALTERNATIVE), form.singles.abs(value), value);
  },
};
