import type { Format } from "./model.ts";

/** A small pseudorandom generator (mulberry32): its seed reproduces a failing case. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Generates finite patterns of the kind that breaks arithmetic: few bits or runs of bits, and exponents that interact.
 */
export class Operands {
  readonly #next: () => number;
  readonly #format: Format;
  constructor(format: Format, seed: number) {
    this.#format = format;
    this.#next = random(seed);
  }
  #below(n: number): number {
    return Math.floor(this.#next() * n);
  }
  #fraction(): bigint {
    const width = this.#format.fractionBits;
    const all = (1n << BigInt(width)) - 1n;
    const bit = () => 1n << BigInt(this.#below(width));
    switch (this.#below(6)) {
      case 0:
        return 0n;
      case 1:
        return bit();
      case 2:
        return all & ~(bit() - 1n);
      case 3:
        return bit() | bit() | 1n;
      case 4:
        return all - (this.#below(2) === 0 ? bit() : 0n);
      default: {
        let x = 0n;
        for (let i = 0; i < width; i += 16) x = (x << 16n) | BigInt(this.#below(0x1_0000));
        return x & all;
      }
    }
  }
  /** A pattern whose exponent field is near `field` (0 to that of the largest finite numbers). */
  near(field: number): bigint {
    const { exponentBits, fractionBits } = this.#format;
    const max = 2 ** exponentBits - 2;
    const exponent = Math.min(max, Math.max(0, Math.round(field) + this.#below(5) - 2));
    const sign = BigInt(this.#below(2)) << BigInt(exponentBits + fractionBits);
    return sign | (BigInt(exponent) << BigInt(fractionBits)) | this.#fraction();
  }
  any(): bigint {
    const max = 2 ** this.#format.exponentBits - 2;
    const pick = this.#below(4);
    return this.near(pick === 0 ? 0 : pick === 1 ? max : pick === 2 ? max / 2 : this.#below(max + 1));
  }
  /**
   * Two factors and an addend that interacts with their product: cancels it, ends at its last bits, or decides a tie
   * that an intermediate rounding would hide.
   */
  triple(): [bigint, bigint, bigint] {
    const { exponentBits, fractionBits } = this.#format;
    const field = (x: bigint) => Number((x >> BigInt(fractionBits)) & ((1n << BigInt(exponentBits)) - 1n));
    const bias = 2 ** (exponentBits - 1) - 1;
    if (this.#below(4) === 0) return this.#tie(bias);
    const a = this.any();
    const b = this.any();
    const product = field(a) + field(b) - bias;
    const offsets = [0, 1, fractionBits, fractionBits + 2, 2 * fractionBits, -fractionBits, -2 * fractionBits - 2];
    const c = this.#below(8) === 0 ? this.any() : this.near(product + offsets[this.#below(offsets.length)]!);
    return [a, b, c];
  }
  #tie(bias: number): [bigint, bigint, bigint] {
    const { fractionBits } = this.#format;
    const at = (exponent: number, fraction: bigint) => {
      const field = Math.min(2 * bias, Math.max(1, exponent + bias));
      const sign = BigInt(this.#below(2)) << BigInt(this.#format.exponentBits + fractionBits);
      return sign | (BigInt(field) << BigInt(fractionBits)) | fraction;
    };
    const e = this.#below(bias) - (bias >> 1);
    const f = this.#below(bias) - (bias >> 1);
    if (this.#below(2) === 0) {
      // (1 + 2^-i)(1 + 2^-j) is one bit too long if i + j = fractionBits + 1; the addend is far below.
      const i = 1 + this.#below(fractionBits);
      const one = (n: number) => 1n << BigInt(fractionBits - n);
      const product = e + f;
      return [at(e, one(i)), at(f, one(fractionBits + 1 - i)), at(product - 3 * fractionBits - this.#below(40), 0n)];
    }
    // (1 + u)(1 - u) = 1 - u^2 or 1 / (1 + u), about half of the addend's last place.
    const u = this.#below(3);
    const all = (1n << BigInt(fractionBits)) - 1n;
    const [m, n] = u === 0 ? [1n, all - 1n] : u === 1 ? [0n, 1n] : [1n, 1n];
    const addend = e + f + fractionBits + 1 - (u === 0 ? 1 : 0);
    return [at(e, m!), at(f, n!), at(addend, this.#fraction())];
  }
}
