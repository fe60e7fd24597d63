import { wasm } from "../../wasm/index.ts";
import { asOps, asSelect, type Emission, prim, type PrimTable } from "../prim.ts";
import { division32, remainder32 } from "./division-wasm.ts";
import { mulHigh32 } from "./product-wasm.ts";
import { shift } from "./shift-wasm.ts";

/** The high 32 bits of the unsigned product, computed from 16-bit halves: every partial sum stays below 2^32. */
const mulHighUnsigned = (a: number, b: number): number => {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carried = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (carried >>> 16)) | 0;
};

const extension = (bits: 8 | 16): Emission => ({
  scalar: (a) => wasm.op(`i32.extend${bits}_s`, a!),
  quad: (a) => {
    const unused = wasm.i32(32 - bits);
    return wasm.op("i32x4.shr_s", wasm.op("i32x4.shl", a!, unused), unused);
  },
});

/**
 * 32-bit integer primitives. Shift counts are unsigned; clamping them, as PTX does, is part of the primitive.
 *
 * Division is total: division by zero gives all ones as quotient and remainder, like NVIDIA's instruction sequences
 * (PTX leaves both to the machine), and the smallest integer divided by -1 is itself.
 */
export const integerPrims = {
  "i32.add": prim(["i32", "i32"], "i32", (a, b) => (a + b) | 0, asOps("i32.add", "quad", "i32x4.add")),
  "i32.sub": prim(["i32", "i32"], "i32", (a, b) => (a - b) | 0, asOps("i32.sub", "quad", "i32x4.sub")),
  "i32.mul": prim(["i32", "i32"], "i32", (a, b) => Math.imul(a, b), asOps("i32.mul", "quad", "i32x4.mul")),
  /** The high half of the 64-bit product. */
  "i32.mul_high_u": prim(["i32", "i32"], "i32", mulHighUnsigned, mulHigh32("u")),
  "i32.mul_high_s": prim(
    ["i32", "i32"],
    "i32",
    (a, b) => (mulHighUnsigned(a, b) - (a < 0 ? b : 0) - (b < 0 ? a : 0)) | 0,
    mulHigh32("s"),
  ),
  "i32.div_s": prim(["i32", "i32"], "i32", (a, b) => (b === 0 ? -1 : (a / b) | 0), division32("s")),
  "i32.div_u": prim(["i32", "i32"], "i32", (a, b) => (b === 0 ? -1 : ((a >>> 0) / (b >>> 0)) | 0), division32("u")),
  "i32.rem_s": prim(["i32", "i32"], "i32", (a, b) => (b === 0 ? -1 : (a % b) | 0), remainder32("s")),
  "i32.rem_u": prim(["i32", "i32"], "i32", (a, b) => (b === 0 ? -1 : ((a >>> 0) % (b >>> 0)) | 0), remainder32("u")),
  "i32.and": prim(["i32", "i32"], "i32", (a, b) => a & b, asOps("i32.and", "quad", "v128.and")),
  "i32.or": prim(["i32", "i32"], "i32", (a, b) => a | b, asOps("i32.or", "quad", "v128.or")),
  "i32.xor": prim(["i32", "i32"], "i32", (a, b) => a ^ b, asOps("i32.xor", "quad", "v128.xor")),
  "i32.eq": prim(["i32", "i32"], "pred", (a, b) => a === b, asOps("i32.eq", "quad", "i32x4.eq")),
  "i32.ne": prim(["i32", "i32"], "pred", (a, b) => a !== b, asOps("i32.ne", "quad", "i32x4.ne")),
  "i32.lt_s": prim(["i32", "i32"], "pred", (a, b) => a < b, asOps("i32.lt_s", "quad", "i32x4.lt_s")),
  "i32.lt_u": prim(["i32", "i32"], "pred", (a, b) => a >>> 0 < b >>> 0, asOps("i32.lt_u", "quad", "i32x4.lt_u")),
  "i32.le_s": prim(["i32", "i32"], "pred", (a, b) => a <= b, asOps("i32.le_s", "quad", "i32x4.le_s")),
  "i32.le_u": prim(["i32", "i32"], "pred", (a, b) => a >>> 0 <= b >>> 0, asOps("i32.le_u", "quad", "i32x4.le_u")),
  "i32.extend8_s": prim(["i32"], "i32", (a) => (a << 24) >> 24, extension(8)),
  "i32.extend16_s": prim(["i32"], "i32", (a) => (a << 16) >> 16, extension(16)),
  /** Counts of 32 or more give 0. */
  "i32.shl": prim(["i32", "i32"], "i32", (a, n) => (n >>> 0 > 31 ? 0 : a << n), shift(32, "shl")),
  /** Counts of 32 or more give the sign. */
  "i32.shr_s": prim(["i32", "i32"], "i32", (a, n) => a >> (n >>> 0 > 31 ? 31 : n), shift(32, "shr_s")),
  "i32.shr_u": prim(["i32", "i32"], "i32", (a, n) => (n >>> 0 > 31 ? 0 : (a >>> n) | 0), shift(32, "shr_u")),
  "i32.select": prim(["pred", "i32", "i32"], "i32", (p, a, b) => (p ? a : b), asSelect("quad")),
} as const satisfies PrimTable;
