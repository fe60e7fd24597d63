import { type Lanes, lanes, type Wasm, wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { byParts, onDoubles, onSingles } from "../form.ts";
import type { Emission } from "../prim.ts";
import * as rounding from "./rounding-wasm.ts";

/** The smaller or the larger of two numbers; a number if the other operand is NaN. */
function choice(op: "min" | "max", ty: "f32" | "f64", width: "quad" | "half", vector: "f32x4" | "f64x2"): Emission {
  const s = lanes[ty];
  const v = lanes[vector];
  return {
    scalar: (a, b) => s.select(s.ne(a, a), b, s.select(s.ne(b, b), a, s[op](a, b))),
    [width]: (a: Wasm, b: Wasm) => {
      if (decides(op, vector, a)) return wasm.op(`${vector}.p${op}`, a, b);
      if (decides(op, vector, b)) return wasm.op(`${vector}.p${op}`, b, a);
      // `a` if the two are equal or one is NaN. Equal operands with different signs are zeros.
      const chosen = wasm.op(`${vector}.p${op}`, a, b);
      const signed = op === "min" ? v.or(chosen, v.and(b, v.eq(a, b))) : v.and(chosen, v.or(b, v.ne(a, b)));
      return v.select(v.eq(a, a), signed, b);
    },
  };
}

/**
 * Whether `pmin` or `pmax` with a constant as its first operand is exact: it returns that operand if the other is equal
 * or NaN. A NaN must give way, and so must the zero that counts as the larger (min) or the smaller (max) of the two.
 */
function decides(op: "min" | "max", vector: "f32x4" | "f64x2", value: Wasm): boolean {
  if (value.kind !== "const" || value.ty !== "v128") return false;
  const { buffer } = Uint8Array.from(value.value);
  const numbers = [...(vector === "f32x4" ? new Float32Array(buffer) : new Float64Array(buffer))];
  const other = op === "min" ? 0 : -0;
  return numbers.every((x) => !Number.isNaN(x) && !Object.is(x, other));
}

const choices = (op: "min" | "max") => ({
  f32: choice(op, "f32", "quad", "f32x4"),
  f64: choice(op, "f64", "half", "f64x2"),
});
export const min = choices("min");
export const max = choices("max");

/** Flushes numbers of smaller magnitude than the threshold to the zero of their sign. */
export const flushedBelow = (d: Lanes, a: Wasm, threshold: number): Wasm => {
  const small = d.mask(d.lt(d.abs(a), d.number(threshold)));
  // Everything but the sign.
  return d.fromBits(d.andNot(d.bits(a), d.shrU(small, 1)));
};
export const ftz = onSingles((s, a) => flushedBelow(s, a, 2 ** -126));

/** Clamps to [+0, 1]; NaN gives +0. */
const saturated = (ty: "f32" | "f64", width: "quad" | "half", vector: "f32x4" | "f64x2"): Emission => {
  const s = lanes[ty];
  const { number } = lanes[vector];
  return {
    scalar: (a) => s.select(s.gt(a, s.number(0)), s.min(a, s.number(1)), s.number(0)),
    // `pmin` and `pmax` return the first operand if the two do not compare.
    [width]: (a: Wasm) => wasm.op(`${vector}.pmin`, number(1), wasm.op(`${vector}.pmax`, number(0), a)),
  };
};
export const saturate = { f32: saturated("f32", "quad", "f32x4"), f64: saturated("f64", "half", "f64x2") };

/** Returns the bits of a number, with any NaN replaced by the canonical one. */
export const canonical32 = onSingles((s, a) => s.select(s.ne(a, a), s.integer(0x7fff_ffffn), s.bits(a)));
export const canonical64 = onDoubles((d, a) => d.select(d.ne(a, a), d.integer(0x7ff8_0000_0000_0000n), d.bits(a)));

const reinterpreted = (scalar: "f32.reinterpret_i32" | "f64.reinterpret_i64", width: "quad" | "half"): Emission => ({
  scalar: (a) => wasm.op(scalar, a),
  [width]: (a: Wasm) => a,
});
export const reinterpret = {
  f32: reinterpreted("f32.reinterpret_i32", "quad"),
  f64: reinterpreted("f64.reinterpret_i64", "half"),
};

type Directed = Exclude<rounding.Rounding, "rn">;
type Exact = (d: Lanes, ...operands: Wasm[]) => Wasm;

/** Computes a binary32 operation by an operation on doubles that is exact or rounds to odd, and one rounding. */
const through64 =
  (exact: Exact, mirror: readonly boolean[] = []) =>
  (mode: Directed): Expansion => ({
    expand: (form, ...operands) => {
      // Rounding down is the mirror image of rounding up, so that zeros get the right sign.
      const { neg } = form.singles;
      const mirrored = mode === "rm" ? operands.map((x, i) => (mirror[i] ? neg(x) : x)) : operands;
      const parts = byParts(mirrored.map(form.widened), (...o) => exact(form.doubles, ...o));
      const rounded = rounding.round32(form, parts, mode === "rm" ? "rp" : mode);
      return mode === "rm" ? neg(rounded) : rounded;
    },
  });

export const binary32 = {
  add: through64(rounding.addToOdd, [true, true]),
  sub: through64((d, a, b) => rounding.addToOdd(d, a, d.neg(b)), [true, true]),
  mul: through64((d, a, b) => d.mul(a, b), [true, false]),
  fma: through64(rounding.fmaToOdd, [true, false, true]),
  div: through64(rounding.divideToOdd, [true, false]),
};

/** A root is never negative, so rounding down is rounding towards zero. */
export const sqrt32 = (mode: Directed): Expansion => through64(rounding.sqrtToOdd)(mode === "rm" ? "rz" : mode);
