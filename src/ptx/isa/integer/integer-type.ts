import type { Expr, Kit } from "../../../semantics/index.ts";
import { typeInfo } from "../../types.ts";

/** Whether a type is a signed integer type such as `s32`. */
export const isSigned = (type: string): boolean => typeInfo(type)?.kind === "s";

/** Whether a type has several elements, such as `u16x2`. */
export const isPacked = (type: string): boolean => (typeInfo(type)?.lanes ?? 1) > 1;

/** The number of bits of one element. */
export const widthOf = (type: string): number => {
  const info = typeInfo(type);
  return info === null ? 0 : info.bits / info.lanes;
};

/** Applies `f` to the low and to the high half words of packed operands. */
export function perHalf(
  k: Kit,
  type: string,
  operands: readonly Expr[],
  f: (...halves: readonly Expr[]) => Expr,
): Expr {
  const half = (at: number) => f(...operands.map((o) => k.field(o, at, 16, isSigned(type))));
  return k.or(k.narrow(half(0), 16, false), k.shl(half(16), k.i32(16)));
}
