import type { Lanes, Wasm } from "../../wasm/index.ts";
import { byParts, type Form } from "../form.ts";

/**
 * WebAssembly code for the error-free transformations of `numeric/error-free.ts` and the roundings of
 * `numeric/binary32.ts` and `binary64.ts` based on them. Each performs the same operations in the same order.
 */

/** A rounding mode of IEEE 754: to nearest even, towards zero, down, up. */
export type Rounding = "rn" | "rz" | "rm" | "rp";

/** `a + b - s`, exactly, for `s = a + b`. */
export function sumError(d: Lanes, a: Wasm, b: Wasm, s: Wasm): Wasm {
  const bb = d.sub(s, a);
  return d.add(d.sub(a, d.sub(s, bb)), d.sub(b, bb));
}

function halves(d: Lanes, x: Wasm): [Wasm, Wasm] {
  const t = d.mul(d.number(134217729), x);
  const high = d.sub(t, d.sub(t, x));
  return [high, d.sub(x, high)];
}

/** `a * b - p`, exactly, for `p = a * b` in binary64. */
export function productError(d: Lanes, a: Wasm, b: Wasm, p: Wasm): Wasm {
  const [ah, al] = halves(d, a);
  const [bh, bl] = halves(d, b);
  return d.sub(d.mul(al, bl), d.sub(d.sub(d.sub(p, d.mul(ah, bh)), d.mul(al, bh)), d.mul(ah, bl)));
}

/** All bits set where `e` is a nonzero number, else none. */
const lost = (d: Lanes, e: Wasm): Wasm => d.mask(d.gt(d.abs(e), d.number(0)));
const signBits = (d: Lanes, x: Wasm): Wasm => d.mask(d.less(x, d.integer(0n)));

/** Rounds `s + e`, where `s` is that sum rounded to nearest, to the neighbour whose last bit is odd. */
export function toOdd(d: Lanes, s: Wasm, e: Wasm): Wasm {
  const inexact = lost(d, e);
  const bits = d.bits(s);
  const inward = d.and(inexact, signBits(d, d.xor(bits, d.bits(e))));
  // Towards zero if `e` points there; the last bit may then be set, because one of the two neighbours has it.
  return d.fromBits(d.or(d.plus(bits, inward), d.and(inexact, d.integer(1n))));
}

/** 1, or -1 for negative numbers: adding it to a number's bits gives the next number up. */
const upwardStep = (d: Lanes, bits: Wasm): Wasm => d.or(signBits(d, bits), d.integer(1n));

/**
 * Rounds an exact value in a mode. `z` is that value rounded to nearest; `e` has the sign of the rounding error (exact
 * value minus `z`).
 */
export function directed(d: Lanes, z: Wasm, e: Wasm, mode: Rounding): Wasm {
  const bits = d.bits(z);
  switch (mode) {
    case "rn":
      return z;
    case "rz":
      return d.fromBits(d.plus(bits, d.and(lost(d, e), signBits(d, d.xor(bits, d.bits(e))))));
    case "rp":
      return d.fromBits(d.plus(bits, d.and(d.mask(d.gt(e, d.number(0))), upwardStep(d, bits))));
    case "rm":
      return d.fromBits(d.minus(bits, d.and(d.mask(d.lt(e, d.number(0))), upwardStep(d, bits))));
  }
}

export function addToOdd(d: Lanes, a: Wasm, b: Wasm): Wasm {
  const s = d.add(a, b);
  return toOdd(d, s, sumError(d, a, b, s));
}

/** The remainder of a division. If the divisor is positive, its sign is that of the quotient's rounding error. */
export function remainder(d: Lanes, a: Wasm, q: Wasm, b: Wasm): Wasm {
  const p = d.mul(q, b);
  return d.sub(d.sub(a, p), productError(d, q, b, p));
}

/** Negates `e` where `b` is negative. */
export const withSignOf = (d: Lanes, e: Wasm, b: Wasm): Wasm =>
  d.fromBits(d.xor(d.bits(e), d.and(d.bits(b), d.integer(1n << 63n))));

export function divideToOdd(d: Lanes, a: Wasm, b: Wasm): Wasm {
  const q = d.div(a, b);
  return toOdd(d, q, withSignOf(d, remainder(d, a, q, b), b));
}

export function sqrtToOdd(d: Lanes, a: Wasm): Wasm {
  const q = d.sqrt(a);
  return toOdd(d, q, remainder(d, a, q, q));
}

/**
 * `a * b + c`, rounded to odd. The product must be exact in the format: that of binary32 numbers in binary64, or of f16
 * numbers in binary32.
 */
export function fmaToOdd(d: Lanes, a: Wasm, b: Wasm, c: Wasm): Wasm {
  const p = d.mul(a, b);
  const s = d.add(p, c);
  return toOdd(d, s, sumError(d, p, c, s));
}

/** Returns the nearest binary32 numbers, and a function that compares them with the binary64 numbers they come from. */
function compared(form: Form, parts: readonly Wasm[]) {
  const { doubles: d, singles } = form;
  const nearest = form.narrowed(parts);
  const back = form.widened(nearest);
  const narrow = (p: (f: Wasm, x: Wasm) => Wasm): Wasm => singles.mask(form.narrowedPred(byParts([back, parts], p)));
  return { bits: singles.bits(nearest), nearest, narrow, d, s: singles };
}

/** Rounds binary64 numbers to binary32. */
export function round32(form: Form, parts: readonly Wasm[], mode: Rounding): Wasm {
  if (mode === "rn") return form.narrowed(parts);
  const { bits, narrow, d, s } = compared(form, parts);
  switch (mode) {
    case "rz":
      return s.fromBits(
        s.plus(
          bits,
          narrow((f, x) => d.gt(d.abs(f), d.abs(x))),
        ),
      );
    case "rp":
      return s.fromBits(s.plus(bits, s.and(narrow(d.lt), upwardStep(s, bits))));
    case "rm":
      return s.fromBits(s.minus(bits, s.and(narrow(d.gt), upwardStep(s, bits))));
  }
}

/**
 * Rounds binary64 numbers to odd in binary32, so that rounding again to a shorter format gives the same as rounding
 * once.
 */
export function oddIn32(form: Form, parts: readonly Wasm[]): Wasm {
  const { bits, narrow, d, s } = compared(form, parts);
  const inward = narrow((f, x) => d.gt(d.abs(f), d.abs(x)));
  return s.fromBits(s.or(s.plus(bits, inward), s.and(narrow(d.ne), s.integer(1n))));
}
