import type { Expr, Kit } from "../../../semantics/index.ts";
import { isSigned, widthOf } from "./integer-type.ts";

/** `a * b` in the type's full width (`wide`), or its high or low half. */
export function product(k: Kit, mode: "hi" | "lo" | "wide", type: string, a: Expr, b: Expr): Expr {
  const signed = isSigned(type);
  // Both factors of 16 bits are extended to 32, so the product is whole.
  if (widthOf(type) === 16) return mode === "hi" ? k.shr(k.mul(a, b), k.i32(16), signed) : k.mul(a, b);
  if (mode === "hi") return k.mulHigh(a, b, signed);
  return mode === "lo" ? k.mul(a, b) : k.mul(k.widen(a, signed), k.widen(b, signed));
}
