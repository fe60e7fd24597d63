import { type Expr, kit as k } from "../semantics/index.ts";

/**
 * The atomic read-modify-write functions, whatever instructions call them. The first operand of `cas` is the one to
 * compare with.
 */
export type AtomicFunction =
  | "load"
  | "exchange"
  | "add"
  | "sub"
  | "inc"
  | "dec"
  /** Decrements and returns the new value. */
  | "predec"
  | "umin"
  | "umax"
  | "smin"
  | "smax"
  | "and"
  | "or"
  | "xor"
  | "cas"
  /** `cas` with the new value as the first operand. */
  | "swapped-cas"
  | FloatFunction;

/** The atomic functions of floating-point numbers. */
export type FloatFunction = "fadd" | "fsub" | "fmin" | "fmax" | "fcas";

/** The operands of an atomic operation. 16-bit floats are `hf` or, with `bfloat`, `bf`. */
export interface AtomicOperands {
  readonly bits: 16 | 32 | 64;
  readonly bfloat: boolean;
  /** The value in memory. Values are `i32`, or `i64` for 64 bits; 16 bits are zero-extended. */
  readonly old: Expr;
  readonly src0: Expr;
  readonly src1: Expr;
}

/** The value that memory holds afterwards. */
export function atomicResult(op: AtomicFunction, operands: AtomicOperands): Expr {
  const { bits, old, src0, src1 } = operands;
  const signed = (value: Expr): Expr => (bits === 16 ? k.narrow(value, 16, true) : value);
  switch (op) {
    case "load":
      return old;
    case "exchange":
      return src0;
    case "add":
      return k.add(old, src0);
    case "sub":
      return k.sub(old, src0);
    case "inc":
      return k.add(old, k.int(old, 1));
    case "dec":
    case "predec":
      return k.sub(old, k.int(old, 1));
    case "umin":
      return k.min(old, src0, false);
    case "umax":
      return k.max(old, src0, false);
    case "smin":
      return k.min(signed(old), signed(src0), true);
    case "smax":
      return k.max(signed(old), signed(src0), true);
    case "and":
      return k.and(old, src0);
    case "or":
      return k.or(old, src0);
    case "xor":
      return k.xor(old, src0);
    case "cas":
      return k.select(k.eq(old, src0), src1, old);
    case "swapped-cas":
      return k.select(k.eq(old, src1), src0, old);
    default:
      return floatResult(op, operands);
  }
}

const named = { fadd: "add", fsub: "sub", fmin: "min", fmax: "max" } as const;

/**
 * Sums are rounded to nearest even and keep subnormal numbers; the minimum or maximum of a number and a NaN is the
 * number.
 */
function floatResult(op: FloatFunction, { bits, bfloat, old, src0, src1 }: AtomicOperands): Expr {
  const number = (pattern: Expr): Expr => {
    if (bits === 16) return k.op(bfloat ? "f32.from_bf16" : "f32.from_f16", pattern);
    return k.bitcast(pattern, bits === 64 ? "f64" : "f32");
  };
  const ty = bits === 64 ? "f64" : "f32";
  if (op === "fcas") return k.select(k.op(`${ty}.cmp_eq`, number(old), number(src0)), src1, old);
  const name = named[op];
  if (bits !== 16) return k.bitcast(k.op(`${ty}.${name}`, number(old), number(src0)), bits === 64 ? "i64" : "i32");
  if (name === "add" || name === "sub") return k.op(`${bfloat ? "bf16" : "f16"}.${name}`, old, src0);
  const chosen = k.op("f64.from_f32", k.op(`f32.${name}`, number(old), number(src0)));
  return k.op(bfloat ? "i32.bf16_from_f64_rn" : "i32.f16_from_f64_rn", chosen);
}
