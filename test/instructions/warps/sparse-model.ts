import type { Cell } from "./fragments.ts";

/*
 * The fragments of a sparse A as sections 9.7.14.6.2.1 to 9.7.14.6.2.8 of the manual give them: the row of element i of
 * a lane, and the first of the columns among which it lies, with g for groupID and t for threadID_in_group. The layout
 * of metadata, of which the manual has only pictures, is from ../../../../shared/modern/README.md.
 */

interface SparseFragment {
  readonly row: (g: number, i: number) => number;
  readonly firstColumn: (t: number, i: number) => number;
}

const below = (isUpper: boolean, g: number): number => (isUpper ? g : g + 8);

/** By shape and bits of an element. */
const sparseFragments: Readonly<Record<string, SparseFragment>> = {
  "m16n8k16 16": { row: (g, i) => below(i < 2, g), firstColumn: (t) => t * 4 },
  "m16n8k32 16": {
    row: (g, i) => below(i < 2 || (4 <= i && i < 6), g),
    firstColumn: (t, i) => (i < 4 ? t * 4 : t * 4 + 16),
  },
  "m16n8k8 32": { row: (g, i) => below(i === 0, g), firstColumn: (t) => t * 2 },
  "m16n8k16 32": {
    row: (g, i) => below(i === 0 || i === 2, g),
    firstColumn: (t, i) => (i < 2 ? t * 2 : t * 2 + 8),
  },
  "m16n8k32 8": { row: (g, i) => below(i < 4, g), firstColumn: (t) => t * 8 },
  "m16n8k64 8": {
    row: (g, i) => below(i < 4 || (8 <= i && i < 12), g),
    firstColumn: (t, i) => (i < 8 ? t * 8 : t * 8 + 32),
  },
  "m16n8k64 4": { row: (g, i) => below(i < 8, g), firstColumn: (t) => t * 16 },
  "m16n8k128 4": {
    row: (g, i) => below(i < 8 || (16 <= i && i < 24), g),
    firstColumn: (t, i) => (i < 16 ? t * 16 : t * 16 + 64),
  },
};

/** Bits of metadata of a row from a column on, of all that the quad of the row has for it. */
function metadataBits(bits: number, k: number, words: readonly bigint[], row: number, selector: number): bigint {
  const quad = 4 * (row % 8);
  const lower = row < 8;
  if (bits >= 16) {
    const lanes = k / (bits === 32 ? 8 : 16);
    let found = 0n;
    // "a thread holds 16 bits of row g below 16 bits of row g + 8, with two threads the first has the lower half of k"
    for (let i = 0; i < lanes; i++) {
      const word = words[quad + selector * lanes + i]!;
      found |= (lower ? word & 0xffffn : word >> 16n) << BigInt(16 * i);
    }
    return found;
  }
  // "lanes 4g and 4g + 1 hold rows g and g + 8 for k below 32; lanes 4g + 2, 4g + 3 the same rows for k from 32"
  const half = bits === 8 ? 32 : 64;
  const own = quad + (lower ? 0 : 1);
  return k === half ? words[own + 2 * selector]! : words[own]! | (words[own + 2]! << 32n);
}

/** Row and column of element i of a lane of a sparse A. `words`: the metadata of the lanes. */
export function sparseLocations(
  shape: string,
  bits: number,
  words: readonly bigint[],
  selector: number,
): (lane: number, i: number) => Cell {
  const { row: rowOf, firstColumn } = sparseFragments[`${shape} ${bits}`]!;
  const k = Number(/k(\d+)/.exec(shape)![1]);
  // "each chunk of four adjacent elements"; "two adjacent elements" of tf32; "eight adjacent elements" of 4 bits
  const chunk = bits === 32 ? 2 : bits === 4 ? 8 : 4;
  const inRegister = 32 / bits;
  return (lane, i) => {
    const row = rowOf(lane >> 2, i);
    const within = i % inRegister;
    const first = firstColumn(lane % 4, i) + chunk * Math.floor(within / (chunk / 2));
    const indices = Number((metadataBits(bits, k, words, row, selector) >> BigInt((first / chunk) * 4)) & 15n);
    // "0b1110 and 0b0100 are the only meaningful index values": the second element, and the first
    if (chunk === 2) return [row, first + (indices === 14 ? 1 : 0)];
    const place = within % (chunk / 2);
    const index = (indices >> (chunk === 8 ? 2 * Math.floor(place / 2) : 2 * place)) & 3;
    return [row, first + (chunk === 8 ? 2 * index + (place % 2) : index)];
  };
}
