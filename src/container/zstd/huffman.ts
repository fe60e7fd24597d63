import type { ByteView } from "../byte-view.ts";
import { BackwardBits } from "./backward-bits.ts";
import { nextState, readFse } from "./fse.ts";

/**
 * A Huffman code: for each value of the next `maxBits` bits the symbol and, in the lower byte, the length of its code.
 */
export interface HuffmanTable {
  readonly maxBits: number;
  readonly entries: Uint16Array;
}

const mostBits = 11;
const mostWeights = 255;

interface Described {
  readonly table: HuffmanTable;
  /** Where the description ends. */
  readonly next: number;
}

/** Reads the description of a code (RFC 8878, section 4.2.1). */
export function readHuffman(view: ByteView, from: number): Described {
  const head = view.u8(from);
  const isPlain = head >= 128;
  const next = from + 1 + (isPlain ? (head - 126) >> 1 : head);
  if (next > view.length) view.fail("a Huffman table is cut off", from);
  const weights = isPlain ? plainWeights(view, from + 1, head - 127) : packedWeights(view, from + 1, next);
  return { table: tableOf(view, from, weights), next };
}

/** Four bits for each weight, the upper ones first. */
const plainWeights = (view: ByteView, from: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => (view.u8(from + (i >> 1)) >> (i % 2 === 0 ? 4 : 0)) & 15);

/** Two states take turns, until there are no more bits for one of them: the last weight is the other's. */
function packedWeights(view: ByteView, from: number, end: number): number[] {
  const part = view.until(end);
  const { table, next } = readFse(part, from, { maxLog: 6, maxSymbol: mostBits });
  const bits = new BackwardBits(part, next, end);
  const states = [bits.take(table.log), bits.take(table.log)];
  const weights: number[] = [];
  for (let turn = 0; ; turn ^= 1) {
    const state = states[turn]!;
    weights.push(table.symbols[state]!);
    if (weights.length >= mostWeights) view.fail("a Huffman table has too many weights", from);
    if (table.bits[state]! > bits.left) {
      weights.push(table.symbols[states[turn ^ 1]!]!);
      return weights;
    }
    states[turn] = nextState(table, state, bits);
  }
}

/** The weight of the last symbol is not written: it makes the sum a power of two. */
function tableOf(view: ByteView, from: number, given: readonly number[]): HuffmanTable {
  let sum = 0;
  for (const weight of given) sum += weight === 0 ? 0 : 1 << (weight - 1);
  const maxBits = 32 - Math.clz32(sum);
  if (sum === 0) view.fail("a Huffman table has no codes", from);
  if (maxBits > mostBits) view.fail(`a Huffman code has ${maxBits} bits, where ${mostBits} are the most`, from);
  const rest = (1 << maxBits) - sum;
  if ((rest & (rest - 1)) !== 0) view.fail("the codes of a Huffman table leave a gap", from);
  const weights = [...given, 32 - Math.clz32(rest)];
  if (!weights.includes(1)) view.fail("a Huffman table has codes that are longer than they need be", from);
  const entries = new Uint16Array(1 << maxBits);
  let at = 0;
  for (let weight = 1; weight <= maxBits; weight++) {
    weights.forEach((own, symbol) => {
      if (own !== weight) return;
      const cells = 1 << (weight - 1);
      entries.fill((symbol << 8) | (maxBits + 1 - weight), at, at + cells);
      at += cells;
    });
  }
  return { maxBits, entries };
}

/** Decodes one stream into all of `target`. */
export function decodeHuffman(bits: BackwardBits, { maxBits, entries }: HuffmanTable, target: Uint8Array): void {
  // Behind the end are zeros, so that one look at the end is enough.
  for (let i = 0; i < target.length; i++) {
    const entry = entries[bits.peek(maxBits)]!;
    target[i] = entry >> 8;
    bits.skip(entry & 0xff);
  }
  bits.finish();
}
