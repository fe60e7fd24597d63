import type { Expr, Kit } from "../../../semantics/index.ts";
import type { OperandAccess } from "../define.ts";
import { isSigned } from "../integer/integer-type.ts";
import { mergePart, type BitField, fieldOf } from "./selector.ts";

export const secondaryOperations = ["add", "min", "max"] as const;
export type SecondaryOperation = (typeof secondaryOperations)[number];

/** Clamps an `i64` to the range of an integer of `bits` bits. */
export function clamp(k: Kit, value: Expr, bits: number, signed: boolean): Expr {
  const low = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const high = low + 2n ** BigInt(bits) - 1n;
  return k.max(k.min(value, k.i64(high), true), k.i64(low), true);
}

/** The first result of a scalar instruction as 32 bits, clamped to the destination's part if `.sat` is written. */
export const conclude = (k: Kit, value: Expr, dtype: string, sat: boolean, { bits }: BitField): Expr =>
  k.wrap(sat ? clamp(k, value, bits, isSigned(dtype)) : value);

/** The manual's `optSecOp` on values of type `dtype`. */
export const secondary = (k: Kit, op2: SecondaryOperation, value: Expr, c: Expr, dtype: string): Expr =>
  op2 === "add" ? k.add(value, c) : k[op2](value, c, isSigned(dtype));

/** The part of the destination that is written. */
export const destination = (ops: OperandAccess): BitField => fieldOf(ops.selector("d"));

/** The manual's `optMerge`. Without a selector on `d` the third source is ignored. */
export const merge = (k: Kit, value: Expr, c: Expr, ops: OperandAccess): Expr =>
  mergePart(k, value, destination(ops), c);
