import { type Lanes, lanes, type Wasm, wasm } from "../wasm/index.ts";
import type { Emission } from "./prim.ts";

/**
 * A representation of the operands of an emission: one value, two lanes in vectors (32-bit operands in the low half),
 * or four.
 */
export interface Form {
  readonly name: keyof Emission;
  readonly count: 1 | 2 | 4;
  /** The arithmetic for 32-bit and for 64-bit operands. */
  readonly singles: Lanes;
  readonly doubles: Lanes;
  /** Converts binary32 numbers to binary64: all of them, in as many parts as they need. */
  readonly widened: (x: Wasm) => Wasm[];
  /**
   * The inverse of `widened`, rounding to nearest even; `narrowedPred` is the same for predicates, which are not
   * rounded.
   */
  readonly narrowed: (parts: readonly Wasm[]) => Wasm;
  readonly narrowedPred: (parts: readonly Wasm[]) => Wasm;
  /**
   * For one value or two lanes: zero-extends 32-bit integers to 64 bits, and takes the low words of 64-bit integers.
   */
  readonly extended: (x: Wasm) => Wasm;
  readonly wrapped: (x: Wasm) => Wasm;
}

const promoteLow = (x: Wasm): Wasm => wasm.op("f64x2.promote_low_f32x4", x);
const demote = (x: Wasm): Wasm => wasm.op("f32x4.demote_f64x2_zero", x);

/** One value. */
export const scalarForm: Form = {
  name: "scalar",
  count: 1,
  singles: lanes.f32,
  doubles: lanes.f64,
  widened: (x) => [wasm.op("f64.promote_f32", x)],
  narrowed: ([x]) => wasm.op("f32.demote_f64", x!),
  narrowedPred: ([p]) => p!,
  extended: (x) => wasm.op("i64.extend_i32_u", x),
  wrapped: (x) => wasm.op("i32.wrap_i64", x),
};

const extendLow = (x: Wasm): Wasm => wasm.op("i64x2.extend_low_i32x4_u", x);
const lowWords = (x: Wasm): Wasm => wasm.shuffle32(x, x, [0, 2, 0, 2]);

/** Two lanes, for primitives with a 64-bit type. */
export const halfForm: Form = {
  name: "half",
  count: 2,
  singles: lanes.f32x4,
  doubles: lanes.f64x2,
  widened: (x) => [promoteLow(x)],
  narrowed: ([x]) => demote(x!),
  narrowedPred: ([p]) => lowWords(p!),
  extended: extendLow,
  wrapped: lowWords,
};

/** Four lanes, for primitives whose types all have 32 bits. */
export const quadForm: Form = {
  name: "quad",
  count: 4,
  singles: lanes.f32x4,
  doubles: lanes.f64x2,
  widened: (x) => [promoteLow(x), promoteLow(wasm.shuffle32(x, x, [2, 3, 2, 3]))],
  narrowed: ([low, high]) => wasm.shuffle32(demote(low!), demote(high!), [0, 1, 4, 5]),
  narrowedPred: ([low, high]) => wasm.shuffle32(low!, high!, [0, 2, 4, 6]),
  extended: extendLow,
  wrapped: lowWords,
};

/** Applies `f` to the first part of each operand, then to the second part of each. */
export const byParts = (operands: readonly (readonly Wasm[])[], f: (...parts: Wasm[]) => Wasm): Wasm[] =>
  operands[0]!.map((_, part) => f(...operands.map((parts) => parts[part]!)));

type Expand<F> = (form: F, ...operands: Wasm[]) => Wasm;

/** Emissions of operations on 32-bit numbers, and on 64-bit numbers, that are written once for scalars and vectors. */
export const onSingles = (expand: Expand<Lanes>): Emission => ({
  scalar: (...operands) => expand(lanes.f32, ...operands),
  quad: (...operands) => expand(lanes.f32x4, ...operands),
});
export const onDoubles = (expand: Expand<Lanes>): Emission => ({
  scalar: (...operands) => expand(lanes.f64, ...operands),
  half: (...operands) => expand(lanes.f64x2, ...operands),
});

/** Emissions of operations that convert from 32 to 64 bits or back. */
export const onHalves = (expand: Expand<Form>): Emission => ({
  scalar: (...operands) => expand(scalarForm, ...operands),
  half: (...operands) => expand(halfForm, ...operands),
});
