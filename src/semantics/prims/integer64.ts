import { type Wasm, wasm } from "../../wasm/index.ts";
import { asOps, asSelect, type Emission, prim, type PrimTable } from "../prim.ts";
import { clampedSum } from "./clamped-wasm.ts";
import { division64, remainder64 } from "./division-wasm.ts";
import { mul64, mulHigh64 } from "./product-wasm.ts";
import { shift } from "./shift-wasm.ts";

// V8 keeps values that pass through these arrays in machine registers and memory. That is several times as fast as
// BigInt.asIntN with a conversion to Number, or as shifting a BigInt by a variable count.
const whole = new BigInt64Array(1);
const half = new Int32Array(whole.buffer);
whole[0] = 1n;
const LOW = half[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

const fromHalves = (low: number, high: number): bigint => {
  half[LOW] = low;
  half[HIGH] = high;
  return whole[0]!;
};

const shiftLeft = (a: bigint, n: number): bigint => {
  if (n >>> 0 > 63) return 0n;
  whole[0] = a;
  const low = half[LOW]!;
  if (n > 31) return fromHalves(0, low << n);
  // In two steps, because JavaScript treats a shift by 32 as a shift by 0.
  return fromHalves(low << n, (half[HIGH]! << n) | ((low >>> 1) >>> (31 - n)));
};

/** `fill` is shifted in from the left: 0, or the sign (0 or -1). */
const shiftRight = (a: bigint, n: number, fill: number): bigint => {
  if (n >>> 0 > 63) return fromHalves(fill, fill);
  whole[0] = a;
  const high = half[HIGH]!;
  const filled = ((fill << 1) << (31 - (n & 31))) | (high >>> n);
  if (n > 31) return fromHalves(filled, fill);
  return fromHalves(((high << 1) << (31 - n)) | (half[LOW]! >>> n), filled);
};

const lessUnsigned = (a: bigint, b: bigint): boolean => {
  whole[0] = a;
  const low = half[LOW]!;
  const high = half[HIGH]!;
  whole[0] = b;
  return high === half[HIGH]! ? low >>> 0 < half[LOW]! >>> 0 : high >>> 0 < half[HIGH]! >>> 0;
};

function addClamped(a: bigint, b: bigint, flags: number): bigint {
  const x = flags & 1 ? BigInt.asUintN(64, a) : a;
  const y = flags & 2 ? BigInt.asUintN(64, b) : b;
  const sum = (flags & 4 ? -x : x) + (flags & 8 ? -y : y);
  const [min, max] = flags & 16 ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n];
  return BigInt.asIntN(64, sum < min ? min : sum > max ? max : sum);
}

/**
 * WebAssembly compares vectors of 64-bit integers only as signed numbers; flipping the first bit gives the unsigned
 * order.
 */
function compareUnsigned(relation: "lt" | "le"): Emission {
  const first = wasm.i64x2(-(2n ** 63n));
  return {
    scalar: (a, b) => wasm.op(`i64.${relation}_u`, a!, b!),
    half: (a, b) => wasm.op(`i64x2.${relation}_s`, wasm.op("v128.xor", a!, first), wasm.op("v128.xor", b!, first)),
  };
}

const pair: Emission = {
  scalar: (low, high) => {
    const upper = wasm.op("i64.shl", wasm.op("i64.extend_i32_u", high!), wasm.i64(32n));
    return wasm.op("i64.or", wasm.op("i64.extend_i32_u", low!), upper);
  },
  half: (low, high) => wasm.shuffle32(low!, high!, [0, 4, 1, 5]),
};
const highOf = (a: Wasm): Wasm => wasm.op("i64.shr_u", a, wasm.i64(32n));
const lowHalf: Emission = {
  scalar: (a) => wasm.op("i32.wrap_i64", a!),
  half: (a) => wasm.shuffle32(a!, a!, [0, 2, 0, 2]),
};
const highHalf: Emission = {
  scalar: (a) => wasm.op("i32.wrap_i64", highOf(a!)),
  half: (a) => wasm.shuffle32(a!, a!, [1, 3, 1, 3]),
};

/** 64-bit integer primitives; shift counts are `i32`. Division by zero is as for 32 bits. */
export const integer64Prims = {
  "i64.add": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, a + b), asOps("i64.add", "half", "i64x2.add")),
  "i64.sub": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, a - b), asOps("i64.sub", "half", "i64x2.sub")),
  "i64.mul": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, a * b), mul64),
  /** The high half of the 128-bit product. */
  "i64.mul_high_s": prim(["i64", "i64"], "i64", (a, b) => BigInt.asIntN(64, (a * b) >> 64n), mulHigh64("s")),
  "i64.mul_high_u": prim(
    ["i64", "i64"],
    "i64",
    (a, b) => BigInt.asIntN(64, (BigInt.asUintN(64, a) * BigInt.asUintN(64, b)) >> 64n),
    mulHigh64("u"),
  ),
  "i64.div_s": prim(["i64", "i64"], "i64", (a, b) => (b === 0n ? -1n : BigInt.asIntN(64, a / b)), division64("s")),
  "i64.div_u": prim(
    ["i64", "i64"],
    "i64",
    (a, b) => (b === 0n ? -1n : BigInt.asIntN(64, BigInt.asUintN(64, a) / BigInt.asUintN(64, b))),
    division64("u"),
  ),
  "i64.rem_s": prim(["i64", "i64"], "i64", (a, b) => (b === 0n ? -1n : BigInt.asIntN(64, a % b)), remainder64("s")),
  "i64.rem_u": prim(
    ["i64", "i64"],
    "i64",
    (a, b) => (b === 0n ? -1n : BigInt.asIntN(64, BigInt.asUintN(64, a) % BigInt.asUintN(64, b))),
    remainder64("u"),
  ),
  "i64.and": prim(["i64", "i64"], "i64", (a, b) => a & b, asOps("i64.and", "half", "v128.and")),
  "i64.or": prim(["i64", "i64"], "i64", (a, b) => a | b, asOps("i64.or", "half", "v128.or")),
  "i64.xor": prim(["i64", "i64"], "i64", (a, b) => a ^ b, asOps("i64.xor", "half", "v128.xor")),
  "i64.eq": prim(["i64", "i64"], "pred", (a, b) => a === b, asOps("i64.eq", "half", "i64x2.eq")),
  "i64.ne": prim(["i64", "i64"], "pred", (a, b) => a !== b, asOps("i64.ne", "half", "i64x2.ne")),
  "i64.lt_s": prim(["i64", "i64"], "pred", (a, b) => a < b, asOps("i64.lt_s", "half", "i64x2.lt_s")),
  "i64.lt_u": prim(["i64", "i64"], "pred", lessUnsigned, compareUnsigned("lt")),
  "i64.le_s": prim(["i64", "i64"], "pred", (a, b) => a <= b, asOps("i64.le_s", "half", "i64x2.le_s")),
  "i64.le_u": prim(["i64", "i64"], "pred", (a, b) => !lessUnsigned(b, a), compareUnsigned("le")),
  /** Counts of 64 or more give 0. */
  "i64.shl": prim(["i64", "i32"], "i64", shiftLeft, shift(64, "shl")),
  /** Counts of 64 or more give the sign. */
  "i64.shr_s": prim(["i64", "i32"], "i64", (a, n) => shiftRight(a, n, a < 0n ? -1 : 0), shift(64, "shr_s")),
  "i64.shr_u": prim(["i64", "i32"], "i64", (a, n) => shiftRight(a, n, 0), shift(64, "shr_u")),
  /**
   * The sum of two 64-bit numbers, clamped to 64 bits. Flags in the third operand: bits 0 and 1 make a and b unsigned,
   * bits 2 and 3 negate them first, bit 4 makes the result unsigned.
   */
  "i64.add_clamped": prim(["i64", "i64", "i32"], "i64", addClamped, clampedSum),
  "i64.select": prim(["pred", "i64", "i64"], "i64", (p, a, b) => (p ? a : b), asSelect("half")),
  "i64.extend_i32_s": prim(
    ["i32"],
    "i64",
    (a) => fromHalves(a, a >> 31),
    asOps("i64.extend_i32_s", "half", "i64x2.extend_low_i32x4_s"),
  ),
  "i64.extend_i32_u": prim(
    ["i32"],
    "i64",
    (a) => BigInt(a >>> 0),
    asOps("i64.extend_i32_u", "half", "i64x2.extend_low_i32x4_u"),
  ),
  "i64.from_halves": prim(["i32", "i32"], "i64", fromHalves, pair),
  "i32.wrap_i64": prim(["i64"], "i32", (a) => ((whole[0] = a), half[LOW]!), lowHalf),
  "i32.high_i64": prim(["i64"], "i32", (a) => ((whole[0] = a), half[HIGH]!), highHalf),
} as const satisfies PrimTable;
