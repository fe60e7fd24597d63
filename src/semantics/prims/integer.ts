import { prim, type PrimTable } from "../prim.ts";

/** Integer primitives. Shift counts are taken as unsigned; the clamping of PTX is part of the primitive. */
export const integerPrims = {
  "i32.add": prim(["i32", "i32"], "i32", (a, b) => (a + b) | 0),
  "i32.sub": prim(["i32", "i32"], "i32", (a, b) => (a - b) | 0),
  "i32.mul": prim(["i32", "i32"], "i32", (a, b) => Math.imul(a, b)),
  "i32.and": prim(["i32", "i32"], "i32", (a, b) => a & b),
  "i32.or": prim(["i32", "i32"], "i32", (a, b) => a | b),
  "i32.xor": prim(["i32", "i32"], "i32", (a, b) => a ^ b),
  "i32.eq": prim(["i32", "i32"], "pred", (a, b) => a === b),
  "i32.ne": prim(["i32", "i32"], "pred", (a, b) => a !== b),
  "i32.lt_s": prim(["i32", "i32"], "pred", (a, b) => a < b),
  "i32.lt_u": prim(["i32", "i32"], "pred", (a, b) => a >>> 0 < b >>> 0),
  "i32.le_s": prim(["i32", "i32"], "pred", (a, b) => a <= b),
  "i32.le_u": prim(["i32", "i32"], "pred", (a, b) => a >>> 0 <= b >>> 0),
  "i32.extend8_s": prim(["i32"], "i32", (a) => (a << 24) >> 24),
  "i32.extend16_s": prim(["i32"], "i32", (a) => (a << 16) >> 16),
  /** Counts of 32 and more give 0. */
  "i32.shl": prim(["i32", "i32"], "i32", (a, n) => (n >>> 0 > 31 ? 0 : a << n)),
  /** Counts of 32 and more give the sign. */
  "i32.shr_s": prim(["i32", "i32"], "i32", (a, n) => a >> (n >>> 0 > 31 ? 31 : n)),
  "i32.shr_u": prim(["i32", "i32"], "i32", (a, n) => (n >>> 0 > 31 ? 0 : (a >>> n) | 0)),
  "i32.select": prim(["pred", "i32", "i32"], "i32", (p, a, b) => (p ? a : b)),
  "i32.wrap_i64": prim(["i64"], "i32", (a) => Number(BigInt.asIntN(32, a))),

  "i64.add": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, a + b)),
  "i64.sub": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, a - b)),
  "i64.mul": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, a * b)),
  "i64.and": prim(["i64", "i64"], "i64", (a, b) => a & b),
  "i64.or": prim(["i64", "i64"], "i64", (a, b) => a | b),
  "i64.xor": prim(["i64", "i64"], "i64", (a, b) => a ^ b),
  "i64.eq": prim(["i64", "i64"], "pred", (a, b) => a === b),
  "i64.ne": prim(["i64", "i64"], "pred", (a, b) => a !== b),
  "i64.lt_s": prim(["i64", "i64"], "pred", (a, b) => a < b),
  "i64.lt_u": prim(["i64", "i64"], "pred", (a, b) => BigInt.asUintN(64, a) < BigInt.asUintN(64, b)),
  "i64.le_s": prim(["i64", "i64"], "pred", (a, b) => a <= b),
  "i64.le_u": prim(["i64", "i64"], "pred", (a, b) => BigInt.asUintN(64, a) <= BigInt.asUintN(64, b)),
  /** The count is an `i32`; counts of 64 and more give 0. */
  "i64.shl": prim(["i64", "i32"], "i64", (a, n) => (n >>> 0 > 63 ? 0n : BigInt.asIntN(64, a << BigInt(n)))),
  "i64.shr_s": prim(["i64", "i32"], "i64", (a, n) => a >> BigInt(n >>> 0 > 63 ? 63 : n)),
  "i64.shr_u": prim(["i64", "i32"], "i64", (a, n) =>
    n >>> 0 > 63 ? 0n : BigInt.asIntN(64, BigInt.asUintN(64, a) >> BigInt(n)),
  ),
  "i64.select": prim(["pred", "i64", "i64"], "i64", (p, a, b) => (p ? a : b)),
  "i64.extend_i32_s": prim(["i32"], "i64", (a) => BigInt(a)),
  "i64.extend_i32_u": prim(["i32"], "i64", (a) => BigInt(a >>> 0)),
} as const satisfies PrimTable;
