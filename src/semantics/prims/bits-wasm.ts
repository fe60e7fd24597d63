import { type ValueOp, type Wasm, wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import type { Emission } from "../prim.ts";
import { uniform32 } from "../uniform.ts";
import { shift } from "./shift-wasm.ts";

/** An emission for operations that are efficient only on vectors: a scalar is broadcast to all lanes. */
const throughVector = (quad: (...operands: Wasm[]) => Wasm): Emission => ({
  scalar: (...operands) =>
    wasm.lane("i32x4.extract_lane", 0, quad(...operands.map((operand) => wasm.op("i32x4.splat", operand)))),
  quad,
});

export const popcnt: Emission = {
  scalar: (a) => wasm.op("i32.popcnt", a!),
  quad: (a) => {
    const pairwise: readonly ValueOp[] = ["i16x8.extadd_pairwise_i8x16_u", "i32x4.extadd_pairwise_i16x8_u"];
    return pairwise.reduce((counts, add) => wasm.op(add, counts), wasm.op("i8x16.popcnt", a!));
  },
};

/**
 * Counts leading zeros by the exponent of the word as a signed binary32 number. To keep the conversion from rounding up
 * to the next power of two, the bit after the leading one is cleared first. A word with the sign bit set gives less
 * than 0, and 0 gives more than 32: both are clamped.
 */
export const clz: Emission = {
  scalar: (a) => wasm.op("i32.clz", a!),
  quad: (a) => {
    const cut = wasm.op("v128.andnot", a!, wasm.op("i32x4.shr_u", a!, wasm.i32(1)));
    const exponent = wasm.op("i32x4.shr_u", wasm.op("f32x4.convert_i32x4_s", cut), wasm.i32(23));
    const zeros = wasm.op("i32x4.sub", wasm.i32x4(127 + 31), exponent);
    return wasm.op("i32x4.max_s", wasm.op("i32x4.min_s", zeros, wasm.i32x4(32)), wasm.i32x4(0));
  },
};

const nibbles = Array.from({ length: 16 }, (_, n) => ((n & 1) << 3) | ((n & 2) << 1) | ((n & 4) >> 1) | (n >> 3));
const table = (bytes: readonly number[]): Wasm => ({ kind: "const", ty: "v128", value: bytes });

/** Reverses the bytes of each word, and looks up the two nibbles of each byte. */
export const brev: Emission = throughVector((a) => {
  const bytes = wasm.shuffle(a!, a!, [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]);
  const low = wasm.i32x4(0x0f0f_0f0f);
  const right = wasm.op("v128.and", bytes, low);
  const left = wasm.op("v128.and", wasm.op("i32x4.shr_u", bytes, wasm.i32(4)), low);
  return wasm.op(
    "v128.or",
    wasm.op("i8x16.swizzle", table(nibbles.map((n) => n << 4)), right),
    wasm.op("i8x16.swizzle", table(nibbles), left),
  );
});

/** Replaces the bytes whose mask is set by copies of their sign. */
const signsWhere = (mask: Wasm, bytes: Wasm): Wasm =>
  wasm.blend(mask, wasm.op("i8x16.lt_s", bytes, wasm.i32x4(0)), bytes);

/** A constant selection for all lanes is a shuffle. */
function permuteBy(selection: number, a: Wasm, b: Wasm): Wasm {
  const nibble = (byte: number): number => (selection >> (4 * (byte & 3))) & 15;
  const bytes = Array.from({ length: 16 }, (_, byte) => byte);
  const from = bytes.map((byte) => (nibble(byte) & 4 ? 16 : 0) + (byte & 12) + (nibble(byte) & 3));
  const moved = wasm.shuffle(a, b, from);
  const signs = bytes.map((byte) => (nibble(byte) & 8 ? 0xff : 0));
  return signs.includes(0xff) ? signsWhere(table(signs), moved) : moved;
}

/**
 * Spreads the four nibbles of each selection into bytes. Each byte indexes both words, and finds 0 in the one that it
 * does not refer to.
 */
function permuteEach(a: Wasm, b: Wasm, selection: Wasm): Wasm {
  const spread = (v: Wasm, shift: number, mask: number): Wasm =>
    wasm.op("v128.and", wasm.op("v128.or", v, wasm.op("i32x4.shl", v, wasm.i32(shift))), wasm.i32x4(mask));
  const word = wasm.op("v128.and", selection, wasm.i32x4(0xffff));
  const each = spread(spread(word, 8, 0x00ff_00ff), 4, 0x0f0f_0f0f);
  const bit = (mask: number): Wasm => wasm.op("v128.and", each, wasm.i32x4(mask));
  const within = wasm.op("v128.or", bit(0x0303_0303), wasm.lanes([0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c]));
  const inA = wasm.op("v128.or", within, wasm.op("i32x4.shl", bit(0x0404_0404), wasm.i32(5)));
  const inB = wasm.op("v128.xor", inA, wasm.i32x4(0x8080_8080));
  const moved = wasm.op("v128.or", wasm.op("i8x16.swizzle", a, inA), wasm.op("i8x16.swizzle", b, inB));
  const eights = wasm.i32x4(0x0808_0808);
  return signsWhere(wasm.op("i8x16.eq", wasm.op("v128.and", each, eights), eights), moved);
}

export const permute: Emission = throughVector((a, b, selection) => {
  const same = uniform32(selection!, 4);
  return same?.kind === "const" && same.ty === "i32" ? permuteBy(same.value, a!, b!) : permuteEach(a!, b!, selection!);
});

const powerOfTwo = shift(32, "shl");

/**
 * Finds the n-th set bit by binary search. The bits on the base's side are counted from below in both directions: each
 * half that does not have enough of them is skipped. If the base is outside the word, its power is 0 and no bit is
 * left.
 */
export const nthSet: Expansion = {
  expand: ({ name, singles: s }, mask, base, offset) => {
    const one = s.integer(1n);
    const zero = s.integer(0n);
    const count = (bits: Wasm): Wasm => popcnt[name]!(bits);
    const power = powerOfTwo[name]!(one, base!);
    const upwards = s.minus(zero, power);
    const downwards = s.andNot(s.or(power, s.minus(power, one)), s.mask(s.same(power, zero)));
    const isUp = s.less(zero, offset!);
    const isDown = s.less(offset!, zero);
    const side = s.and(mask!, s.select(isUp, upwards, s.select(isDown, downwards, power)));
    const total = count(side);
    const fromBelow = s.plus(s.plus(total, offset!), one);
    const rank = s.select(isUp, offset!, s.select(isDown, fromBelow, one));
    let [left, bits, at] = [rank, side, zero];
    for (const width of [16, 8, 4, 2, 1]) {
      const low = count(s.and(bits, s.integer(2n ** BigInt(width) - 1n)));
      const isBeyond = s.less(low, left);
      left = s.minus(left, s.and(low, s.mask(isBeyond)));
      at = s.or(at, s.and(s.integer(BigInt(width)), s.mask(isBeyond)));
      bits = s.select(isBeyond, s.shrU(bits, width), bits);
    }
    const isThere = s.both(s.less(zero, rank), s.not(s.less(total, rank)));
    return s.select(isThere, at, s.integer(-1n));
  },
};
