import { fmaToOdd } from "../../numeric/binary32.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import { expanded, named } from "../expansion.ts";
import { emitBf16, emitF16 } from "./half-wasm.ts";

/**
 * f16 and bf16 arithmetic on patterns in the low half of an `i32`, rounded once to nearest even. Sums and products are
 * exact in binary64, or precise enough for a second rounding (53 >= 2 * 11 + 2); the fused multiply-add is rounded to
 * odd first. A NaN result is 0x7fff.
 */
export const halfPrims = named({
  "f16.add": expanded(["i32", "i32"], "i32", (a, b) => numberToF16(f16ToNumber(a) + f16ToNumber(b)), emitF16.add),
  "f16.sub": expanded(["i32", "i32"], "i32", (a, b) => numberToF16(f16ToNumber(a) - f16ToNumber(b)), emitF16.sub),
  "f16.mul": expanded(["i32", "i32"], "i32", (a, b) => numberToF16(f16ToNumber(a) * f16ToNumber(b)), emitF16.mul),
  "f16.fma": expanded(
    ["i32", "i32", "i32"],
    "i32",
    (a, b, c) => numberToF16(fmaToOdd(f16ToNumber(a), f16ToNumber(b), f16ToNumber(c))),
    emitF16.fma,
  ),
  "bf16.add": expanded(["i32", "i32"], "i32", (a, b) => numberToBf16(bf16ToNumber(a) + bf16ToNumber(b)), emitBf16.add),
  "bf16.sub": expanded(["i32", "i32"], "i32", (a, b) => numberToBf16(bf16ToNumber(a) - bf16ToNumber(b)), emitBf16.sub),
  "bf16.mul": expanded(["i32", "i32"], "i32", (a, b) => numberToBf16(bf16ToNumber(a) * bf16ToNumber(b)), emitBf16.mul),
  "bf16.fma": expanded(
    ["i32", "i32", "i32"],
    "i32",
    (a, b, c) => numberToBf16(fmaToOdd(bf16ToNumber(a), bf16ToNumber(b), bf16ToNumber(c))),
    emitBf16.fma,
  ),
});
