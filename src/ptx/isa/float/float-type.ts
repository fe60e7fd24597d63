import type { Expr, Kit } from "../../../semantics/index.ts";

/** The rounding modes of IEEE 754: to nearest even, towards zero, down, up. */
export const rounding = ["rn", "rz", "rm", "rp"] as const;
export type Rounding = (typeof rounding)[number];

type Operation = "add" | "sub" | "mul" | "fma" | "div" | "sqrt";

/** The operation of f32 or f64 operands in a rounding mode; without one, to nearest. */
export function rounded(k: Kit, name: Operation, rnd: Rounding | undefined, ...args: readonly Expr[]): Expr {
  const ty = args[0]!.ty === "f64" ? "f64" : "f32";
  return k.op(rnd === undefined || rnd === "rn" ? `${ty}.${name}` : `${ty}.${name}_${rnd}`, ...args);
}

/** `.ftz`: subnormal operands and results of `f` are flushed to zeros of their sign. */
export function flushed(k: Kit, ftz: boolean, args: readonly Expr[], f: (...args: readonly Expr[]) => Expr): Expr {
  return ftz ? k.op("f32.ftz", f(...args.map((a) => k.op("f32.ftz", a)))) : f(...args);
}

/** `.sat`: the result is clamped to [0, 1]. */
export const saturated = (k: Kit, sat: boolean, value: Expr): Expr => (sat ? k.op("f32.saturate", value) : value);

/** Applies `f` to the low and to the high f32 of `.f32x2` operands. */
export function perF32(k: Kit, operands: readonly Expr[], f: (...elements: readonly Expr[]) => Expr): Expr {
  const low = f(...operands.map((o) => k.bitcast(k.wrap(o), "f32")));
  const high = f(...operands.map((o) => k.bitcast(k.high(o), "f32")));
  return k.pair(k.bitcast(low, "i32"), k.bitcast(high, "i32"));
}

/** The pattern of an f32 or f64 value. */
export const patternOf = (k: Kit, a: Expr): Expr => k.bitcast(a, a.ty === "f64" ? "i64" : "i32");

/** The pattern's fields as masks: in the kit's integer of the pattern's width. */
export const masks = (k: Kit, pattern: Expr) =>
  pattern.ty === "i64"
    ? {
        sign: k.i64(-0x8000_0000_0000_0000n),
        magnitude: k.i64(0x7fff_ffff_ffff_ffffn),
        infinity: k.i64(0x7ff0_0000_0000_0000n),
        leastNormal: k.i64(0x0010_0000_0000_0000n),
      }
    : {
        sign: k.i32(0x8000_0000),
        magnitude: k.i32(0x7fff_ffff),
        infinity: k.i32(0x7f80_0000),
        leastNormal: k.i32(0x0080_0000),
      };

/** Targets of the first generation had subnormal f32 numbers flushed by every instruction. */
export const flushNote = "sm_1x targets flush subnormal f32 operands and results; this models sm_20 and later";
