import type { Expr, Kit } from "../../../semantics/index.ts";

/** The rounding modes of IEEE 754: to nearest even, towards zero, down, up. */
export const rounding = ["rn", "rz", "rm", "rp"] as const;
export type Rounding = (typeof rounding)[number];

/** The class of modifiers with one of these modes. */
export const roundingChoice = { rnd: rounding } as const;

/** The gates of the modes that f64 instructions got later than rounding to nearest. */
export const directedGates = <Gate>(gate: Gate) => ({ rz: gate, rm: gate, rp: gate }) as const;

type Operation = "add" | "sub" | "mul" | "fma" | "div" | "sqrt";

/** An operation on f32 or f64 operands with a rounding mode; the default is to nearest even. */
export function rounded(k: Kit, name: Operation, rnd: Rounding | undefined, ...args: readonly Expr[]): Expr {
  const ty = args[0]!.ty === "f64" ? "f64" : "f32";
  return k.op(rnd === undefined || rnd === "rn" ? `${ty}.${name}` : `${ty}.${name}_${rnd}`, ...args);
}

/** Applies `f`. With `.ftz` its subnormal operands and results are flushed to zeros of the same sign. */
export function flushed(k: Kit, ftz: boolean, args: readonly Expr[], f: (...args: readonly Expr[]) => Expr): Expr {
  return ftz ? k.op("f32.ftz", f(...args.map((a) => k.op("f32.ftz", a)))) : f(...args);
}

/** Clamps a result to [0, 1] if `.sat` is written. */
export const saturated = (k: Kit, sat: boolean, value: Expr): Expr => (sat ? k.op("f32.saturate", value) : value);

/** Applies `f` to the low and to the high elements of `.f32x2` operands. */
export function perF32(k: Kit, operands: readonly Expr[], f: (...elements: readonly Expr[]) => Expr): Expr {
  const low = f(...operands.map((o) => k.bitcast(k.wrap(o), "f32")));
  const high = f(...operands.map((o) => k.bitcast(k.high(o), "f32")));
  return k.pair(k.bitcast(low, "i32"), k.bitcast(high, "i32"));
}

/** The bits of an f32 or f64 value. */
export const patternOf = (k: Kit, a: Expr): Expr => k.bitcast(a, a.ty === "f64" ? "i64" : "i32");

/** Masks and bounds of the fields in the bits of a value, as integers of the same width. */
export const masks = (k: Kit, pattern: Expr) =>
  pattern.ty === "i64"
    ? {
        sign: k.i64(-0x8000_0000_0000_0000n),
        magnitude: k.i64(0x7fff_ffff_ffff_ffffn),
        infinity: k.i64(0x7ff0_0000_0000_0000n),
        minNormal: k.i64(0x0010_0000_0000_0000n),
      }
    : {
        sign: k.i32(0x8000_0000),
        magnitude: k.i32(0x7fff_ffff),
        infinity: k.i32(0x7f80_0000),
        minNormal: k.i32(0x0080_0000),
      };

/** How `rcp` and `rsqrt.approx.ftz.f64` treat the words of a number, and special values (9.7.3.14, 9.7.3.17). */
export const upperWordNote =
  "ignores the lower 32 bits of the operand and sets those of the result to 0; subnormal operands and results are flushed to zeros of their sign; a NaN gives 0x7fffffff00000000";

/** A note on targets of the first generation, where every instruction flushed subnormal f32 numbers. */
export const flushNote = "sm_1x targets flush subnormal f32 operands and results; this models sm_20 and later";
