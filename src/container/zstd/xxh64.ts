/** A number of 64 bits, which operations change in place: it is faster than a BigInt by far. */
class Word {
  hi: number;
  lo: number;

  constructor(hi: number, lo: number) {
    this.hi = hi | 0;
    this.lo = lo | 0;
  }

  set(hi: number, lo: number): this {
    this.hi = hi | 0;
    this.lo = lo | 0;
    return this;
  }

  add({ hi, lo }: Word): this {
    const sum = (this.lo >>> 0) + (lo >>> 0);
    return this.set(this.hi + hi + (sum > 0xffff_ffff ? 1 : 0), sum);
  }

  multiply({ hi, lo }: Word): this {
    const [a0, a1] = [this.lo & 0xffff, this.lo >>> 16];
    const [b0, b1] = [lo & 0xffff, lo >>> 16];
    const middle = a0 * b1 + a1 * b0 + ((a0 * b0) >>> 16);
    const carry = a1 * b1 + Math.floor(middle / 0x1_0000);
    return this.set(carry + Math.imul(this.hi, lo) + Math.imul(this.lo, hi), Math.imul(this.lo, lo));
  }

  xor({ hi, lo }: Word): this {
    return this.set(this.hi ^ hi, this.lo ^ lo);
  }

  /** By 1 to 31 bits. */
  rotate(by: number): this {
    return this.set((this.hi << by) | (this.lo >>> (32 - by)), (this.lo << by) | (this.hi >>> (32 - by)));
  }

  /** Combines the number with itself, shifted to the right by at most 63 bits. */
  fold(by: number): this {
    const lo = by >= 32 ? this.hi >>> (by - 32) : (this.lo >>> by) | (this.hi << (32 - by));
    return this.set(by >= 32 ? this.hi : this.hi ^ (this.hi >>> by), this.lo ^ lo);
  }

  /** Takes in one number of the data. */
  round(data: Word): this {
    return this.add(data.multiply(prime2)).rotate(31).multiply(prime1);
  }
}

const prime1 = new Word(0x9e3779b1, 0x85ebca87);
const prime2 = new Word(0xc2b2ae3d, 0x27d4eb4f);
const prime3 = new Word(0x165667b1, 0x9e3779f9);
const prime4 = new Word(0x85ebca77, 0xc2b2ae63);
const prime5 = new Word(0x27d4eb2f, 0x165667c5);

/**
 * The lower 32 bits of the XXH64 hash of some bytes, with the seed 0 (doc/xxhash_spec.md of
 * github.com/Cyan4973/xxHash).
 */
export function xxh64Low(bytes: Uint8Array): number {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = new Word(0, 0);
  const at8 = (at: number): Word => word.set(data.getUint32(at + 4, true), data.getUint32(at, true));
  const hash = new Word(prime5.hi, prime5.lo);
  let at = 0;
  if (bytes.length >= 32) {
    // The first is the sum of the first two primes, the last what is left of 2^64 without the first prime.
    const lanes = [
      new Word(prime2.hi, prime2.lo).add(prime1),
      new Word(prime2.hi, prime2.lo),
      new Word(0, 0),
      new Word(~prime1.hi, -prime1.lo),
    ];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i]!.round(at8(at + 8 * i));
    }
    hash.set(0, 0);
    for (const [i, { hi, lo }] of lanes.entries()) hash.add(word.set(hi, lo).rotate([1, 7, 12, 18][i]!));
    for (const lane of lanes) hash.xor(new Word(0, 0).round(lane)).multiply(prime1).add(prime4);
  }
  hash.add(word.set(0, bytes.length));
  for (; at + 8 <= bytes.length; at += 8)
    hash
      .xor(new Word(0, 0).round(at8(at)))
      .rotate(27)
      .multiply(prime1)
      .add(prime4);
  for (; at + 4 <= bytes.length; at += 4)
    hash
      .xor(word.set(0, data.getUint32(at, true)).multiply(prime1))
      .rotate(23)
      .multiply(prime2)
      .add(prime3);
  for (; at < bytes.length; at++) hash.xor(word.set(0, bytes[at]!).multiply(prime5)).rotate(11).multiply(prime1);
  return hash.fold(33).multiply(prime2).fold(29).multiply(prime3).fold(32).lo >>> 0;
}
