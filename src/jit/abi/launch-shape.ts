/** Threads of a block, at most. */
export const maxThreads = 1024;

/** What of a launch the code of a kernel is made for. */
export interface LaunchShape {
  /** How many times four lanes a chunk has. */
  readonly quads: Quads;
  /** Each chunk of lanes lies in one row of the block, or the block has one row. */
  readonly rows: boolean;
  /** The threads of a block fill all chunks. */
  readonly full: boolean;
  /** Lanes of a hardware thread of vISA, which is a chunk; null for PTX. */
  readonly width: number | null;
  /** Several threads of the host may run blocks at the same time: the device's memory is one that they share. */
  readonly shared: boolean;
}

/** How many times four lanes a chunk may have: up to a warp. */
export type Quads = 1 | 2 | 4 | 8;
