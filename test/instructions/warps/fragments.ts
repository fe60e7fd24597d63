/*
 * The fragments of mma as sections 9.7.14.5.1 to 9.7.14.5.13 of the manual give them: row and column of element i of a
 * lane, with g for groupID and t for threadID_in_group. The formulas are the manual's, as they are written there; only
 * the column of m16n8k256 for i < 64, "(threadID_in_group * 32) + i", leaves out the "& 0x1F" that its other half has.
 */

/** Row and column of an element. */
export type Cell = readonly [row: number, column: number];
type Formula = (g: number, t: number, i: number) => Cell;

/** The fragments of a shape: element i of A, of B, and of C and D. */
export interface Fragments {
  readonly a: Formula;
  readonly b: Formula;
  readonly c: Formula;
}

const c8: Formula = (g, t, i) => [g, t * 2 + (i & 1)];
const c16: Formula = (g, t, i) => [i < 2 ? g : g + 8, t * 2 + (i & 1)];
const within = (i: number, ...ranges: readonly (readonly [number, number])[]): boolean =>
  ranges.some(([from, to]) => from <= i && i < to);

const none: Formula = () => {
  throw new Error("the manual has no dense product of this shape");
};

/** By shape and bits of an element of A and B. */
export const manualFragments: Readonly<Record<string, Fragments>> = {
  "m8n8k4 64": { a: (g, t) => [g, t], b: (g, t) => [t, g], c: c8 },
  "m8n8k16 8": { a: (g, t, i) => [g, t * 4 + i], b: (g, t, i) => [t * 4 + i, g], c: c8 },
  "m8n8k32 4": { a: (g, t, i) => [g, t * 8 + i], b: (g, t, i) => [t * 8 + i, g], c: c8 },
  "m8n8k128 1": { a: (g, t, i) => [g, t * 32 + i], b: (g, t, i) => [t * 32 + i, g], c: c8 },
  "m16n8k4 32": { a: (g, t, i) => [i === 0 ? g : g + 8, t], b: (g, t) => [t, g], c: c16 },
  "m16n8k4 64": { a: (g, t, i) => [i === 0 ? g : g + 8, t], b: (g, t) => [t, g], c: c16 },
  "m16n8k8 16": {
    a: (g, t, i) => [i < 2 ? g : g + 8, t * 2 + (i & 1)],
    b: (g, t, i) => [t * 2 + i, g],
    c: c16,
  },
  "m16n8k8 32": {
    a: (g, t, i) => [i === 0 || i === 2 ? g : g + 8, i < 2 ? t : t + 4],
    b: (g, t, i) => [i === 0 ? t : t + 4, g],
    c: c16,
  },
  "m16n8k8 64": {
    a: (g, t, i) => [i === 0 || i === 2 ? g : g + 8, i < 2 ? t : t + 4],
    b: (g, t, i) => [i === 0 ? t : t + 4, g],
    c: c16,
  },
  "m16n8k16 16": {
    a: (g, t, i) => [within(i, [0, 2], [4, 6]) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)],
    b: (g, t, i) => [t * 2 + (i & 1) + (i < 2 ? 0 : 8), g],
    c: c16,
  },
  "m16n8k16 64": {
    a: (g, t, i) => (i % 2 === 0 ? [g, i * 2 + t] : [g + 8, i * 2 - 2 + t]),
    b: (g, t, i) => [t + i * 4, g],
    c: c16,
  },
  "m16n8k16 8": {
    a: (g, t, i) => [i < 4 ? g : g + 8, t * 4 + (i & 3)],
    b: (g, t, i) => [t * 4 + i, g],
    c: c16,
  },
  "m16n8k32 4": {
    a: (g, t, i) => [i < 8 ? g : g + 8, t * 8 + (i & 7)],
    b: (g, t, i) => [t * 8 + (i & 7), g],
    c: c16,
  },
  "m16n8k32 8": {
    a: (g, t, i) => [within(i, [0, 4], [8, 12]) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)],
    b: (g, t, i) => [t * 4 + (i & 3) + (i < 4 ? 0 : 16), g],
    c: c16,
  },
  "m16n8k64 4": {
    a: (g, t, i) => [within(i, [0, 8], [16, 24]) ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)],
    b: (g, t, i) => [t * 8 + (i & 7) + (i < 8 ? 0 : 32), g],
    c: c16,
  },
  // B of sparse products only, which are not among the dense ones: figures 121, 124, 132 to 135, 142 to 145.
  "m16n8k32 16": { a: none, b: (g, t, i) => [t * 2 + (i & 1) + 8 * (i >> 1), g], c: c16 },
  "m16n8k16 32": { a: none, b: (g, t, i) => [t + 4 * i, g], c: c16 },
  "m16n8k64 8": { a: none, b: (g, t, i) => [t * 4 + (i & 3) + 16 * (i >> 2), g], c: c16 },
  "m16n8k128 4": { a: none, b: (g, t, i) => [t * 8 + (i & 7) + 32 * (i >> 3), g], c: c16 },
  "m16n8k128 1": {
    a: (g, t, i) => [i < 32 ? g : g + 8, t * 32 + (i & 0x1f)],
    b: (g, t, i) => [t * 32 + i, g],
    c: c16,
  },
  "m16n8k256 1": {
    a: (g, t, i) => [within(i, [0, 32], [64, 96]) ? g : g + 8, t * 32 + (i & 0x1f) + (i < 64 ? 0 : 128)],
    b: (g, t, i) => [t * 32 + (i & 0x1f) + (i < 32 ? 0 : 128), g],
    c: c16,
  },
};

/** Of m8n8k4 with f16 (9.7.14.5.1): by lane and element, in the layouts that the opcode names. */
export const quarterFragments = {
  aRow: (lane: number, i: number): Cell => [(lane % 4) + (lane < 16 ? 0 : 4), i],
  aColumn: (lane: number, i: number): Cell => [(i % 4) + (lane < 16 ? 0 : 4), lane % 4],
  bRow: (lane: number, i: number): Cell => [lane % 4, lane < 16 ? i : i + 4],
  bColumn: (lane: number, i: number): Cell => [i, (lane % 4) + (lane < 16 ? 0 : 4)],
  c16: (lane: number, i: number): Cell => [(lane % 4) + (lane < 16 ? 0 : 4), i],
  c32: (lane: number, i: number): Cell => [(lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), (i & 4) + (lane & 2) + (i & 1)],
} as const;
