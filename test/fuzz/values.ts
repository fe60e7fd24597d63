import type { Random } from "./random.ts";

export type Width = 1 | 8 | 16 | 32 | 64 | 128;

/**
 * Patterns at which arithmetic has its corners: extreme integers, shift counts, zeros, infinities, NaNs, subnormals.
 */
const integers = [0n, 1n, 2n, 3n, 7n, 8n, 15n, 16n, 31n, 32n, 33n, 63n, 64n, 65n, 127n, 128n, 255n, 256n, 0xffffn];
const floats: Readonly<Record<16 | 32 | 64, readonly bigint[]>> = {
  // f16 and bf16 have their corners at different patterns.
  16: [
    ...[0x3c00n, 0x0001n, 0x03ffn, 0x0400n, 0x7bffn, 0x7c00n, 0x7c01n, 0x7e00n, 0x7fffn, 0x3800n, 0x6400n],
    ...[0x3f80n, 0x007fn, 0x0080n, 0x7f7fn, 0x7f80n, 0x7f81n, 0x7fc0n, 0x4f00n],
  ],
  32: [
    ...[0x3f80_0000n, 0x4000_0000n, 0x3f00_0000n, 0x0000_0001n, 0x007f_ffffn, 0x0080_0000n, 0x7f7f_ffffn],
    ...[0x7f80_0000n, 0x7f80_0001n, 0x7fc0_0000n, 0x7fff_ffffn, 0x4b00_0000n, 0x4b80_0001n, 0x4f00_0000n],
    ...[0x4f7f_ffffn, 0x5f00_0000n, 0x3f80_0001n, 0x3f7f_ffffn, 0x4049_0fdbn, 0x42b1_7218n, 0x4300_0000n],
    ...[0x4316_0000n, 0x3eff_ffffn, 0x477f_e000n, 0x477f_f000n, 0x3380_0000n, 0x3300_0000n],
  ],
  64: [
    ...[0x3ff0_0000_0000_0000n, 0x0000_0000_0000_0001n, 0x000f_ffff_ffff_ffffn, 0x0010_0000_0000_0000n],
    ...[0x7fef_ffff_ffff_ffffn, 0x7ff0_0000_0000_0000n, 0x7ff0_0000_0000_0001n, 0x7ff8_0000_0000_0000n],
    ...[0x41df_ffff_ffc0_0000n, 0x41e0_0000_0000_0000n, 0x43e0_0000_0000_0000n, 0x43f0_0000_0000_0000n],
    ...[0x3fdf_ffff_ffff_ffffn, 0x47ef_ffff_f000_0000n, 0x36a0_0000_0000_0000n, 0x380f_ffff_ffff_ffffn],
    ...[0x3ff0_0000_1000_0000n, 0x40ef_fff0_0000_0000n, 0x3e60_0000_0000_0000n],
  ],
};

/** A pattern of 8 to 64 bits: half of the time a corner of some type, else small or anything. */
export function pattern(random: Random, bits: 8 | 16 | 32 | 64): bigint {
  const sign = 1n << BigInt(bits - 1);
  const value = ((): bigint => {
    switch (random.below(8)) {
      case 0:
        return random.pick(integers);
      case 1:
        return -random.pick(integers);
      case 2:
        return sign + BigInt(random.between(-2, 2));
      case 3:
      case 4:
        if (bits !== 8) return random.pick(floats[bits]) ^ (random.chance(0.4) ? sign : 0n);
        return BigInt(random.word());
      case 5:
        return moderate(random, bits);
      default:
        return (BigInt(random.word()) << 32n) | BigInt(random.word());
    }
  })();
  return BigInt.asUintN(bits, value);
}

const f32 = new Float32Array(1);
const f64 = new Float64Array(1);

/** Floating-point numbers whose sums and products stay finite; in 16 bits an f16 near 1. */
function moderate(random: Random, bits: 8 | 16 | 32 | 64): bigint {
  const value = ((random.word() - 2 ** 31) / 2 ** 31) * 2 ** random.between(-8, 12);
  f32[0] = f64[0] = value;
  if (bits === 64) return new BigUint64Array(f64.buffer)[0]!;
  if (bits === 32) return BigInt(new Uint32Array(f32.buffer)[0]!);
  return BigInt(0x3400 + random.below(0x1400)) | (random.chance(0.5) ? 0x8000n : 0n);
}

/** Bytes for a buffer: patterns of all sizes, each at its natural place. */
export function patternBytes(random: Random, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at + 8 <= size; at += 8) {
    const bits = random.pick([16, 32, 32, 64] as const);
    let word = 0n;
    for (let shift = 0; shift < 64; shift += bits) word |= pattern(random, bits) << BigInt(shift);
    view.setBigUint64(at, word, true);
  }
  return bytes;
}

/** A word of packed elements as matrices have them: of a few patterns, so that sums cancel, or of any. */
export function randomWord(random: Random): string {
  const bits = random.pick([4, 8, 16, 32] as const);
  const elements = [0, 1].map(() => (bits === 4 ? BigInt(random.below(16)) : pattern(random, bits)));
  let word = 0n;
  for (let at = 0; at < 32; at += bits) word |= BigInt.asUintN(bits, random.pick(elements)) << BigInt(at);
  return `0x${word.toString(16)}`;
}
