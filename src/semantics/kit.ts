import type { Expr } from "./expr.ts";
import { type PrimName, primOf, prims } from "./prims/index.ts";
import type { Ty } from "./types.ts";

const op = (name: PrimName, ...args: Expr[]): Expr => {
  const row = primOf(name);
  if (row.params.length !== args.length) throw new Error(`${name} takes ${row.params.length} operands`);
  row.params.forEach((ty, i) => {
    if (args[i]!.ty !== ty) throw new Error(`${name}: operand ${i} is ${args[i]!.ty}, not ${ty}`);
  });
  return { kind: "prim", ty: row.result, prim: name, args };
};

/** Returns the name of the primitive `TYPE.name` for the type of `a`: `poly("add", a)` is `i32.add` for an `i32`. */
const poly = (name: string, a: Expr): PrimName => {
  const full = `${a.ty}.${name}`;
  if (!(full in prims)) throw new Error(`there is no primitive ${full}`);
  return full as PrimName;
};
const binary = (name: string) => (a: Expr, b: Expr) => op(poly(name, a), a, b);

/**
 * Returns `value`, or, if `overflow` is negative, the bound on the side of `a`: 0x7fff_ffff, or -0x8000_0000 if `a` is
 * negative.
 */
const saturated = (a: Expr, value: Expr, overflow: Expr): Expr =>
  kit.select(kit.lt(overflow, kit.i32(0), true), kit.xor(kit.shr(a, kit.i32(31), true), kit.i32(0x7fff_ffff)), value);

/**
 * The vocabulary in which the semantics of instructions are written. It builds expressions and computes nothing. `op`
 * applies any primitive by name; the others are the operations that most rows need, and choose the primitive by the
 * type of their first operand.
 */
export const kit = {
  /** Applies a primitive by its name. */
  op,
  /** A constant: the low 32 bits of the value. */
  i32: (value: number): Expr => ({ kind: "const", ty: "i32", value: value | 0 }),
  /** A constant: the low 64 bits of the value. */
  i64: (value: bigint): Expr => ({ kind: "const", ty: "i64", value: BigInt.asIntN(64, value) }),
  /** A constant: the value, rounded to nearest even. */
  f32: (value: number): Expr => ({ kind: "const", ty: "f32", value: Math.fround(value) }),
  /** A constant. */
  f64: (value: number): Expr => ({ kind: "const", ty: "f64", value }),
  /** A constant. */
  pred: (value: boolean): Expr => ({ kind: "const", ty: "pred", value }),
  /** An integer constant of the type of `like` (`i32` or `i64`). */
  int: (like: Expr, value: number | bigint): Expr =>
    like.ty === "i64" ? kit.i64(BigInt(value)) : kit.i32(Number(value)),
  /** The sum; that of integers is modulo their size. */
  add: binary("add"),
  /** The difference; that of integers is modulo their size. */
  sub: binary("sub"),
  /** The product; of integers, its low half. */
  mul: binary("mul"),
  /** The high half of the double-width product. */
  mulHigh: (a: Expr, b: Expr, signed: boolean): Expr => op(poly(signed ? "mul_high_s" : "mul_high_u", a), a, b),
  /** The quotient of two integers, truncated; all ones if `b` is 0. */
  div: (a: Expr, b: Expr, signed: boolean): Expr => op(poly(signed ? "div_s" : "div_u", a), a, b),
  /** The remainder of two integers, with the sign of `a`; all ones if `b` is 0. */
  rem: (a: Expr, b: Expr, signed: boolean): Expr => op(poly(signed ? "rem_s" : "rem_u", a), a, b),
  /** The negated integer, modulo its size. */
  neg: (a: Expr): Expr => kit.sub(kit.int(a, 0), a),
  /** The signed 32-bit sum, clamped to 32 bits. */
  addSat: (a: Expr, b: Expr): Expr => {
    const sum = kit.add(a, b);
    return saturated(a, sum, kit.and(kit.xor(a, sum), kit.xor(b, sum)));
  },
  /** The signed 32-bit difference, clamped to 32 bits. */
  subSat: (a: Expr, b: Expr): Expr => {
    const difference = kit.sub(a, b);
    return saturated(a, difference, kit.and(kit.xor(a, b), kit.xor(a, difference)));
  },
  /** The bits that both have. */
  and: binary("and"),
  /** The bits that at least one has. */
  or: binary("or"),
  /** The bits that exactly one has. */
  xor: binary("xor"),
  /** All bits flipped. */
  not: (a: Expr): Expr => (a.ty === "pred" ? op("pred.not", a) : op(poly("xor", a), a, kit.int(a, -1))),
  /** Whether both are equal (`pred`). */
  eq: binary("eq"),
  /** Whether they differ (`pred`). */
  ne: binary("ne"),
  /** Whether the integer `a` is less than `b` (`pred`). */
  lt: (a: Expr, b: Expr, signed: boolean): Expr => op(poly(signed ? "lt_s" : "lt_u", a), a, b),
  /** Whether the integer `a` is at most `b` (`pred`). */
  le: (a: Expr, b: Expr, signed: boolean): Expr => op(poly(signed ? "le_s" : "le_u", a), a, b),
  /** `a` if `p` is true, else `b`. */
  select: (p: Expr, a: Expr, b: Expr): Expr => op(poly("select", a), p, a, b),
  /** The smaller of two integers. */
  min: (a: Expr, b: Expr, signed: boolean): Expr => kit.select(kit.lt(a, b, signed), a, b),
  /** The larger of two integers. */
  max: (a: Expr, b: Expr, signed: boolean): Expr => kit.select(kit.lt(a, b, signed), b, a),
  /** The absolute value; that of the smallest integer is the integer itself. */
  abs: (a: Expr): Expr => kit.select(kit.lt(a, kit.int(a, 0), true), kit.neg(a), a),
  /** `a`, shifted to the left: 0 if `n` is not less than its size in bits. */
  shl: binary("shl"),
  /** `a`, shifted to the right: copies of the sign come in if `signed`, else zeros. */
  shr: (a: Expr, n: Expr, signed: boolean): Expr => op(poly(signed ? "shr_s" : "shr_u", a), a, n),
  /** Extends 32 bits to 64. */
  widen: (a: Expr, signed: boolean): Expr => op(signed ? "i64.extend_i32_s" : "i64.extend_i32_u", a),
  /** Truncates 64 bits to the low 32. */
  wrap: (a: Expr): Expr => op("i32.wrap_i64", a),
  /** The high 32 of 64 bits. */
  high: (a: Expr): Expr => op("i32.high_i64", a),
  /** Combines two halves into 64 bits. */
  pair: (low: Expr, high: Expr): Expr => op("i64.from_halves", low, high),
  /**
   * Extracts `bits` bits of an `i32` from position `at` and extends them to 32. Both numbers are known when the row is
   * built.
   */
  field: (a: Expr, at: number, bits: number, signed: boolean): Expr =>
    kit.shr(kit.shl(a, kit.i32(32 - at - bits)), kit.i32(32 - bits), signed),
  /** Extends the low `bits` (8, 16 or 32) of an `i32` to 32. */
  narrow: (a: Expr, bits: number, signed: boolean): Expr =>
    bits >= 32
      ? a
      : signed
        ? op(bits === 8 ? "i32.extend8_s" : "i32.extend16_s", a)
        : op("i32.and", a, kit.i32(2 ** bits - 1)),
  /**
   * Reinterprets the bits in another type of the same size. A register is simply read in that type; a round trip
   * preserves NaNs.
   */
  bitcast: (a: Expr, ty: Ty): Expr =>
    a.ty === ty
      ? a
      : a.kind === "reg"
        ? { kind: "reg", ty, reg: a.reg }
        : a.kind === "prim" && a.prim === `${a.ty}.reinterpret_${ty}`
          ? a.args[0]!
          : op(`${ty}.reinterpret_${a.ty}` as PrimName, a),
} as const;
/** The type of `kit`: functions that build expressions. @useDeclaredType */
export type Kit = typeof kit;
