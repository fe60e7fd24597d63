import type { Expr, Kit } from "../../../semantics/index.ts";
import { isSigned, widthOf } from "./integer-type.ts";

/** The full product `a * b` (`wide`), or its high or low half. */
export function product(k: Kit, mode: "hi" | "lo" | "wide", type: string, a: Expr, b: Expr): Expr {
  const signed = isSigned(type);
  // 16-bit factors are extended to 32 bits, so this is the full product.
  if (widthOf(type) === 16) return mode === "hi" ? k.shr(k.mul(a, b), k.i32(16), signed) : k.mul(a, b);
  if (mode === "hi") return k.mulHigh(a, b, signed);
  return mode === "lo" ? k.mul(a, b) : k.mul(k.widen(a, signed), k.widen(b, signed));
}
