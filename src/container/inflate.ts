import { ContainerError } from "./container-error.ts";

/** Symbols by their codes, which have at most 15 bits. */
interface HuffmanCode {
  /** How many codes each length has. */
  readonly counts: Uint16Array;
  /** The symbols in the order of their codes. */
  readonly symbols: Uint16Array;
}

const maxBits = 15;

const lengthBases = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115];
lengthBases.push(131, 163, 195, 227, 258);
const lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const distanceBases = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537];
distanceBases.push(2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577);
const distanceBits = distanceBases.map((_, i) => Math.max(0, (i >> 1) - 1));
/** The order in which the lengths of the codes for lengths stand. */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

function huffman(lengths: readonly number[]): HuffmanCode {
  const counts = new Uint16Array(maxBits + 1);
  for (const length of lengths) counts[length]!++;
  counts[0] = 0;
  const starts = new Uint16Array(maxBits + 2);
  for (let bits = 1; bits <= maxBits; bits++) starts[bits + 1] = starts[bits]! + counts[bits]!;
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length > 0) symbols[starts[length]!++] = symbol;
  });
  return { counts, symbols };
}

const fixedLiterals = huffman(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)));
const fixedDistances = huffman(new Array<number>(30).fill(5));

/**
 * Decodes DEFLATE (RFC 1951), as it stands in ZIP archives, of which the size is known.
 *
 * @throws ContainerError if the data is damaged
 */
export const inflate = (input: Uint8Array, size: number): Uint8Array => new Inflater(input, size).run();

class Inflater {
  readonly #input: Uint8Array;
  readonly #output: Uint8Array;
  #from = 0;
  #to = 0;
  /** Bits that have been read and not used, the first one lowest. */
  #bits = 0;
  #count = 0;

  constructor(input: Uint8Array, size: number) {
    this.#input = input;
    this.#output = new Uint8Array(size);
  }

  run(): Uint8Array {
    for (let last = false; !last; ) {
      last = this.#take(1) === 1;
      const type = this.#take(2);
      if (type === 0) this.#stored();
      else if (type === 1) this.#codes(fixedLiterals, fixedDistances);
      else if (type === 2) this.#dynamic();
      else this.#damaged("there is no such block");
    }
    if (this.#to !== this.#output.length) this.#damaged(`${this.#output.length} bytes were declared, ${this.#to} are`);
    return this.#output;
  }

  #damaged(why: string): never {
    throw new ContainerError(`the deflate data is damaged: ${why} (at byte ${this.#from} of ${this.#input.length})`);
  }

  #take(count: number): number {
    while (this.#count < count) {
      if (this.#from >= this.#input.length) this.#damaged("it ends too early");
      this.#bits |= this.#input[this.#from++]! << this.#count;
      this.#count += 8;
    }
    const value = this.#bits & ((1 << count) - 1);
    this.#bits >>>= count;
    this.#count -= count;
    return value;
  }

  #symbol({ counts, symbols }: HuffmanCode): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let bits = 1; bits <= maxBits; bits++) {
      code |= this.#take(1);
      const count = counts[bits]!;
      if (code - first < count) return symbols[index + code - first]!;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return this.#damaged("there is no such code");
  }

  #stored(): void {
    this.#bits = this.#count = 0;
    const length = this.#take(16);
    if ((this.#take(16) ^ 0xffff) !== length) this.#damaged("a length and its complement differ");
    if (length > this.#input.length - this.#from) this.#damaged("it ends too early");
    this.#require(length);
    this.#output.set(this.#input.subarray(this.#from, this.#from + length), this.#to);
    this.#from += length;
    this.#to += length;
  }

  #dynamic(): void {
    const literals = this.#take(5) + 257;
    const distances = this.#take(5) + 1;
    const given = this.#take(4) + 4;
    const lengths = new Array<number>(19).fill(0);
    for (let i = 0; i < given; i++) lengths[lengthOrder[i]!] = this.#take(3);
    const code = huffman(lengths);
    const all: number[] = [];
    while (all.length < literals + distances) {
      const symbol = this.#symbol(code);
      if (symbol < 16) all.push(symbol);
      else {
        if (symbol === 16 && all.length === 0) this.#damaged("there is no length to repeat");
        const value = symbol === 16 ? all.at(-1)! : 0;
        const times = symbol === 16 ? 3 + this.#take(2) : symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7);
        for (let i = 0; i < times; i++) all.push(value);
      }
    }
    if (all.length > literals + distances) this.#damaged("there are too many lengths");
    this.#codes(huffman(all.slice(0, literals)), huffman(all.slice(literals)));
  }

  #codes(literals: HuffmanCode, distances: HuffmanCode): void {
    const output = this.#output;
    for (;;) {
      const symbol = this.#symbol(literals);
      if (symbol === 256) return;
      if (symbol < 256) {
        this.#require(1);
        output[this.#to++] = symbol;
        continue;
      }
      const length = this.#extended(symbol - 257, lengthBases, lengthBits);
      const distance = this.#extended(this.#symbol(distances), distanceBases, distanceBits);
      if (distance > this.#to) this.#damaged("a distance points before the beginning");
      this.#require(length);
      // Byte by byte: what is copied may overlap with what it makes.
      for (const end = this.#to + length; this.#to < end; this.#to++) output[this.#to] = output[this.#to - distance]!;
    }
  }

  #extended(symbol: number, bases: readonly number[], bits: readonly number[]): number {
    if (symbol >= bases.length) this.#damaged("there is no such length or distance");
    return bases[symbol]! + this.#take(bits[symbol]!);
  }

  #require(count: number): void {
    if (count > this.#output.length - this.#to) this.#damaged("there is more than was declared");
  }
}
