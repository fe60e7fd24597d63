import type { Dim3 } from "../../machine/reports/report.ts";
import type { GivenParameter } from "./known-parameter.ts";

/** Threads of a block, at most. */
export const maxThreads = 1024;

/**
 * Blocks in each direction, at most, of grids in which every global index of a thread, `ctaid * ntid + tid`, is below
 * 2^31, whatever the size of blocks.
 */
export const maxIndexedBlocks = 2 ** 31 / maxThreads;

/** Whether a grid has so few blocks that global indices have no sign. */
export const isIndexed = (grid: Dim3): boolean => grid.every((blocks) => blocks <= maxIndexedBlocks);

/** Whether a block is one row of threads. */
export const isRow = ([, y, z]: Dim3): boolean => y === 1 && z === 1;

/** The properties of a launch that compiled code depends on. */
export interface LaunchShape {
  /** Lanes of a chunk, divided by four: one quad, of which the first lane alone exists, where code is scalar. */
  readonly quads: Quads;
  /** A chunk is one thread, so that the code for it has no vectors. */
  readonly scalar: boolean;
  /** The threads of a block, where code is for such blocks alone; null: only what follows is known of them. */
  readonly block: Dim3 | null;
  /** Code for such blocks has a version for those in the interior of the grid, where that is of use. */
  readonly interior: boolean;
  /** The grid has so few blocks that global indices of threads have no sign. */
  readonly indexed: boolean;
  /** Each chunk of lanes lies in one row of the block, or the block has one row. */
  readonly rows: boolean;
  /**
   * Threads of a row where chunks have those of several rows, but of one layer: then they are `tid.y` times this and
   * `tid.x`. Null where code does not know it, or it is not so.
   */
  readonly rowLength: number | null;
  /** The threads of a block fill all chunks. */
  readonly full: boolean;
  /** A block is one chunk. */
  readonly single: boolean;
  /** Lanes of a hardware thread (vISA), each of which is a chunk; null for PTX. */
  readonly width: number | null;
  /** Blocks begin cluster by cluster, which is not the order of the grid: clusters have more than one row. */
  readonly clustered: boolean;
  /** Products of matrices are the exact sums, rounded once, which the launcher computes. */
  readonly exactSums: boolean;
  /** Barriers (instructions of the kernel) at which chunks that run one after the other need not wait. */
  readonly needlessBarriers: readonly number[];
  /** Loops around barriers are written round by round, as far as it is known how often they repeat. */
  readonly byRound: boolean;
  /**
   * Lanes that stay in a loop that others have left have code of their own, in which these wait for them, where lanes
   * of a warp exchange values after it.
   */
  readonly maskedRounds: boolean;
  /** Integers that launches give to some parameters, where they say how often loops around barriers repeat. */
  readonly given: readonly GivenParameter[];
  /** Several threads of the host may run blocks at the same time, in shared memory. */
  readonly shared: boolean;
}

/** The shape of which nothing is known but the width of chunks: rows may end anywhere in them. */
export const anyShape = (quads: Quads): LaunchShape => ({
  ...{
    quads,
    scalar: false,
    block: null,
    interior: false,
    indexed: false,
    width: null,
    needlessBarriers: [],
    given: [],
  },
  ...{ rows: false, rowLength: null, full: false, single: false },
  ...{ clustered: false, exactSums: false, byRound: false, maskedRounds: false, shared: false },
});

/** Lanes of a chunk. */
export const lanesOf = ({ quads, scalar }: Pick<LaunchShape, "quads" | "scalar">): number => (scalar ? 1 : 4 * quads);

/** Lanes of a chunk, divided by four: up to a warp. */
export type Quads = 1 | 2 | 4 | 8;

/** Whether the lanes of each chunk lie in one row of threads, whose length is a multiple of a chunk's. */
export const areInRow = ({ rows, full, width }: Pick<LaunchShape, "rows" | "full" | "width">): boolean =>
  rows && full && width === null;

/** What may be asked for: so many lanes, or that chunks are single threads where threads can run alone. */
export type ChunkWidth = Quads | "scalar";
