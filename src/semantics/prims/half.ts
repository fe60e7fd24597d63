import { fmaToOdd } from "../../numeric/binary32.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import { prim, type PrimTable } from "../prim.ts";

/**
 * f16 and bf16 arithmetic on patterns in the low half of an `i32`, rounded once to nearest even. A sum or a product is exact in
 * binary64, or so long that its rounding there does no harm (53 >= 2 * 11 + 2); the fused multiply-add is rounded to odd first.
 * A NaN result is 0x7fff.
 */
export const halfPrims = {
  "f16.add": prim(["i32", "i32"], "i32", (a, b) => numberToF16(f16ToNumber(a) + f16ToNumber(b))),
  "f16.sub": prim(["i32", "i32"], "i32", (a, b) => numberToF16(f16ToNumber(a) - f16ToNumber(b))),
  "f16.mul": prim(["i32", "i32"], "i32", (a, b) => numberToF16(f16ToNumber(a) * f16ToNumber(b))),
  "f16.fma": prim(["i32", "i32", "i32"], "i32", (a, b, c) =>
    numberToF16(fmaToOdd(f16ToNumber(a), f16ToNumber(b), f16ToNumber(c))),
  ),
  "bf16.add": prim(["i32", "i32"], "i32", (a, b) => numberToBf16(bf16ToNumber(a) + bf16ToNumber(b))),
  "bf16.sub": prim(["i32", "i32"], "i32", (a, b) => numberToBf16(bf16ToNumber(a) - bf16ToNumber(b))),
  "bf16.mul": prim(["i32", "i32"], "i32", (a, b) => numberToBf16(bf16ToNumber(a) * bf16ToNumber(b))),
  "bf16.fma": prim(["i32", "i32", "i32"], "i32", (a, b, c) =>
    numberToBf16(fmaToOdd(bf16ToNumber(a), bf16ToNumber(b), bf16ToNumber(c))),
  ),
} as const satisfies PrimTable;
