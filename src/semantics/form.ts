import { type Lanes, lanes, type Wasm, wasm } from "../wasm/index.ts";
import type { Emission } from "./prim.ts";

/** A way to hold the operands of an emission: one value, two lanes in halves of vectors, or four. */
export interface Form {
  readonly name: keyof Emission;
  readonly count: 1 | 2 | 4;
  /** Arithmetic on what 32-bit and 64-bit operands are held in. */
  readonly singles: Lanes;
  readonly doubles: Lanes;
  /** binary32 numbers in binary64: all of them, in as many parts as they take. */
  readonly widened: (x: Wasm) => Wasm[];
  /** The way back, rounding to nearest even; of predicates, the way back alone. */
  readonly narrowed: (parts: readonly Wasm[]) => Wasm;
  readonly narrowedPred: (parts: readonly Wasm[]) => Wasm;
  /** Of one value or two lanes: 32-bit integers in 64 bits, unsigned, and the low words of 64-bit integers. */
  readonly extended: (x: Wasm) => Wasm;
  readonly wrapped: (x: Wasm) => Wasm;
}

const promoteLow = (x: Wasm): Wasm => wasm.op("f64x2.promote_low_f32x4", x);
const demote = (x: Wasm): Wasm => wasm.op("f32x4.demote_f64x2_zero", x);

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

/** Applied to parts of several operands: to the first of each, then to the second of each. */
export const byParts = (operands: readonly (readonly Wasm[])[], f: (...parts: Wasm[]) => Wasm): Wasm[] =>
  operands[0]!.map((_, part) => f(...operands.map((parts) => parts[part]!)));

type Expand<F> = (form: F, ...operands: Wasm[]) => Wasm;

/** Expansions of operations on 32-bit numbers, and on 64-bit ones, that are written once for scalars and vectors. */
export const onSingles = (expand: Expand<Lanes>): Emission => ({
  scalar: (...operands) => expand(lanes.f32, ...operands),
  quad: (...operands) => expand(lanes.f32x4, ...operands),
});
export const onDoubles = (expand: Expand<Lanes>): Emission => ({
  scalar: (...operands) => expand(lanes.f64, ...operands),
  half: (...operands) => expand(lanes.f64x2, ...operands),
});

/** Expansions that pass from 32 to 64 bits or back. */
export const onHalves = (expand: Expand<Form>): Emission => ({
  scalar: (...operands) => expand(scalarForm, ...operands),
  half: (...operands) => expand(halfForm, ...operands),
});
