/**
 * Where the rows of a product are in tensor memory (section 9.7.16.10.5), for one block of those that take part. The
 * columns of D lie in `parts` groups of lanes, one part of them after the other, each from the same column on. What
 * every part needs, such as an A in tensor memory, is in the lanes of each.
 */
export interface DataPaths {
  /** Rows of the product that the block has, from `firstRow` on. */
  readonly rows: number;
  readonly parts: 1 | 2 | 4;
  /** The lane of the first part that has a row, counted from the lane of the address. */
  readonly lane: (row: number) => number;
  /** Whether only half of each 32 lanes are used: an address may then begin at lane 16. */
  readonly half: boolean;
}

const straight = (row: number): number => row;
/** Sixteen rows in each 32 lanes. */
const spread = (row: number): number => (row >> 4) * 32 + (row & 15);

const full: DataPaths = { rows: 128, parts: 1, lane: straight, half: false };
const halves: DataPaths = { rows: 64, parts: 1, lane: spread, half: true };
const twoParts: DataPaths = { rows: 64, parts: 2, lane: straight, half: false };
const fourParts: DataPaths = { rows: 32, parts: 4, lane: straight, half: false };

/** The layout for a product of `m` rows; its letter in the manual is in the comment. */
export function dataPaths(m: number, group: 1 | 2, stationary: boolean, sparse: boolean): DataPaths {
  if (group === 2) return m === 256 ? full /* A */ : sparse ? halves /* C */ : twoParts /* B */;
  if (m === 128) return full; // D
  if (!stationary) return halves; // F
  return m === 64 ? twoParts /* E */ : fourParts /* G */;
}
