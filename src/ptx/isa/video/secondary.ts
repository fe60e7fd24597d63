import type { Expr, Kit } from "../../../semantics/index.ts";
import type { OperandAccess } from "../define.ts";
import { isSigned } from "../integer/integer-type.ts";
import { mergePart, type Place, placeOf } from "./selector.ts";

export const secondaryOperations = ["add", "min", "max"] as const;
export type SecondaryOperation = (typeof secondaryOperations)[number];

/** Limits an `i64` to what `bits` bits of the type hold. */
export function clamp(k: Kit, value: Expr, bits: number, signed: boolean): Expr {
  const low = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const high = low + 2n ** BigInt(bits) - 1n;
  return k.max(k.min(value, k.i64(high), true), k.i64(low), true);
}

/** The first result of a scalar instruction as the 32 bits of `dtype`, limited first where `.sat` says so. */
export const conclude = (k: Kit, value: Expr, dtype: string, sat: boolean, { bits }: Place): Expr =>
  k.wrap(sat ? clamp(k, value, bits, isSigned(dtype)) : value);

/** The manual's `optSecOp`, on values of `dtype`. */
export const secondary = (k: Kit, op2: SecondaryOperation, value: Expr, c: Expr, dtype: string): Expr =>
  op2 === "add" ? k.add(value, c) : k[op2](value, c, isSigned(dtype));

export const destination = (ops: OperandAccess): Place => placeOf(ops.selector("d"));

/** The manual's `optMerge`: without a selector on `d` the third source does not count. */
export const merge = (k: Kit, value: Expr, c: Expr, ops: OperandAccess): Expr =>
  mergePart(k, value, destination(ops), c);
