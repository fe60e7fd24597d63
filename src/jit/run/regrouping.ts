import type { GlobalIndexUse } from "../../ir/flow/index.ts";
import { axisOf, type LaunchRequest, type Placement } from "../../machine/launch.ts";
import type { Extent } from "../../machine/memory/extent.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { hasManyBlocks } from "./launch-traits.ts";

/** The blocks of a launch: how many there are, and of how many threads. */
type Blocks = Pick<LaunchRequest, "grid" | "block">;

/** Blocks in which a launch runs instead of those that were asked for. */
export interface OtherBlocks extends Blocks {
  readonly placement: Placement;
  /** Their shared memory, where it is not as the program declares it: what lies there, and how many bytes are added. */
  readonly shared: { readonly extents: readonly Extent[]; readonly moreBytes: number } | null;
}

/** What a kernel knows of its blocks that knows its threads by their global index alone: see `GlobalIndexUse`. */
export interface KnownThreads extends Pick<GlobalIndexUse, "sizes"> {
  /** Whether blocks of several rows are better given long rows of threads. */
  readonly hasLongRows: boolean;
  /** Whether it is another kernel in the interior of the grid, so that blocks are not to be whole rows. */
  readonly hasBorders: boolean;
  /** The same with x and y exchanged, where its lanes are better along y; else null. */
  readonly transposed: GlobalIndexUse["sizes"] | null;
}

/** How small blocks may lie side by side in larger ones. */
export interface KnownNeighbours {
  /** The direction in which they lie there. */
  readonly placement: "alongX" | "alongY" | "alongZ";
  /** How many there are at most: a power of two. */
  readonly mostBlocks: number;
  /** The address of the first block's shared variables. */
  readonly start: number;
  /** Bytes from one block's shared variables to the next one's; 0 where the kernel has none. */
  readonly stride: number;
  /** Bytes of static shared memory from `start` on that a block has in any case. */
  readonly bytes: number;
}

/** What is known of the blocks of a kernel that may run in others. */
export type KnownBlocks = KnownThreads | KnownNeighbours;

/**
 * Runs the threads of a launch in other blocks, where the kernel cannot tell. One that knows its threads by their
 * global index alone, and of which none waits for another, has neighbouring threads of a row of the grid in the lanes
 * of a chunk, also where the blocks of the launch are small, or narrow squares; or of a column, if that is where
 * neighbours access neighbouring words. Blocks of few threads whose kernel knows more lie side by side in larger ones.
 */
export class Regrouping {
  readonly #threadsIn: (kernel: string, block: Dim3) => KnownBlocks | null;
  /** By kernel and block. */
  readonly #known = new Map<string, KnownBlocks | null>();

  /** `threadsIn`: what a kernel knows of its threads in blocks of one size; null where it stays in them. */
  constructor(threadsIn: (kernel: string, block: Dim3) => KnownBlocks | null) {
    this.#threadsIn = threadsIn;
  }

  /** Whether the blocks of a launch may depend on the size of its grid. */
  dependsOnGrid({ kernel, grid, block, cluster, blocks, threads, sharedBytes }: LaunchRequest): boolean {
    if (cluster !== undefined || blocks !== undefined || threads !== undefined || sharedBytes > 0) return false;
    const isGood = block[0] % 32 === 0 && (block[0] >= wideEnough || block[1] * block[2] > 1);
    if (isGood && !hasColumns({ grid, block })) return false;
    const known = this.#in(kernel, block);
    return known !== null && (!isGood || "stride" in known || known.transposed !== null);
  }

  /** Other blocks in which a launch runs; null if it runs in those that were asked for. */
  blocksFor(request: LaunchRequest): OtherBlocks | null {
    return this.dependsOnGrid(request) ? this.#regrouped(request) : null;
  }

  #regrouped({ kernel, grid, block }: LaunchRequest): OtherBlocks | null {
    const all = this.#in(kernel, block)!;
    if (!fits(grid, block)) return null;
    if ("stride" in all) return neighbours({ grid, block }, all);
    const { transposed, ...known } = all;
    if (transposed !== null && transposed[0] !== null && hasColumns({ grid, block })) {
      const given = { grid: exchanged(grid), block: exchanged(block) };
      const other = otherBlocks(given, { ...known, sizes: transposed }) ?? given;
      return { ...other, placement: "transposed", shared: null };
    }
    const other = otherBlocks({ grid, block }, known);
    return other && { ...other, placement: "same", shared: null };
  }

  #in(kernel: string, block: Dim3): KnownBlocks | null {
    const key = `${kernel} ${block.join()}`;
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = this.#threadsIn(kernel, block)));
    return known;
  }
}

const exchanged = ([x, y, z]: Dim3): Dim3 => [y, x, z];

/** Whether the columns of a grid have as many threads as a warp, at least. */
const hasColumns = ({ grid, block }: Blocks): boolean => grid[1] * block[1] >= 32;

/** Threads of a row of a block from which on there is nothing to gain. */
const wideEnough = 128;

/** Threads of a row that blocks are given: whole chunks. What many rows have in common then stays in caches. */
const goodWidths = { oneRow: 256, manyRows: 32 };

/** Threads of a block. */
const mostThreads = 1024;

/** Threads of a row of which some may be missing in the last chunk. */
const fewest = 64;

/** Threads of a row of a block from which on it is better to be in the interior than to have long rows. */
const leastInside = 8;

/** Whether numbers of threads have 31 bits at most, so that they are the same in 32 and 64 bits. */
const fits = (grid: Dim3, block: Dim3): boolean => grid.every((n, i) => n * block[i]! < 2 ** 31);

/** Blocks in which whole chunks lie in a row; null where these would be no better. */
function otherBlocks(
  { grid, block }: Blocks,
  { sizes, hasLongRows, hasBorders }: Omit<KnownThreads, "transposed">,
): Blocks | null {
  const [, y, z] = block;
  const widest = hasLongRows ? goodWidths.oneRow : goodWidths.manyRows;
  const isFree = (d: 1 | 2): boolean => sizes[d] !== null;
  const threads = grid[0] * block[0];
  const width = y * z === 1 ? null : wholeWidth(threads, block[0], widest);
  const rowsOf = (height: number, depth: number, width: number): Blocks | null => ({
    grid: [threads / width, grid[1] * (y / height), grid[2] * (z / depth)],
    block: [width, height, depth],
  });
  if (width !== null) {
    const height = isFree(1) ? divisorUpTo(Math.floor(mostThreads / (width * z)), y) : y;
    if (height > 0 && width * height * z <= mostThreads) return rowsOf(height, z, width);
  }
  if ((y > 1 && !isFree(1)) || (z > 1 && !isFree(2))) return null;
  // A block that is a whole row has both of its borders: none would be in the interior.
  if (hasBorders && block[0] >= leastInside && hasManyBlocks(grid)) return null;
  const wide = wholeWidth(threads, block[0], goodWidths.oneRow) ?? divisorUpTo(mostThreads, threads);
  return wide >= Math.max(fewest, 2 * block[0]) ? rowsOf(1, 1, wide) : null;
}

/** Blocks in which those of a launch lie side by side, as many as divide its rows; null where none do, or few are. */
function neighbours({ grid, block }: Blocks, known: KnownNeighbours): OtherBlocks | null {
  if (!hasManyBlocks(grid)) return null;
  let blocks = known.mostBlocks;
  while (grid[0] % blocks !== 0) blocks /= 2;
  if (blocks === 1) return null;
  const extents = [extentOf(known, blocks)];
  return {
    grid: [grid[0] / blocks, grid[1], grid[2]],
    block: blockOf(block, known, blocks),
    placement: known.placement,
    shared: known.stride === 0 ? null : { extents, moreBytes: Math.max(0, blocks * known.stride - known.bytes) },
  };
}

/** A block in which so many lie side by side. */
export const blockOf = (block: Dim3, { placement }: Pick<KnownNeighbours, "placement">, blocks: number): Dim3 =>
  block.map((n, i) => (i === axisOf(placement) ? blocks : n)) as unknown as Dim3;

/** The shared variables of so many blocks that lie side by side. */
export const extentOf = ({ start, stride }: KnownNeighbours, blocks: number): Extent => ({
  name: "shared variables",
  start,
  end: start + blocks * stride,
});

/** The largest width of blocks up to a bound that fills chunks and divides the threads of a row; null if none does. */
function wholeWidth(threads: number, old: number, widest: number): number | null {
  for (let width = widest; width > old; width -= 32) if (threads % width === 0) return width;
  return null;
}

/** The largest divisor of `n` that is not larger than `most`; 0 if there is none. */
function divisorUpTo(most: number, n: number): number {
  let divisor = Math.min(most, n);
  while (divisor > 0 && n % divisor !== 0) divisor--;
  return divisor;
}

/** The same launch in other blocks; how far it is counts the blocks that were asked for. */
export function inBlocks(request: LaunchRequest, other: OtherBlocks): LaunchRequest {
  const { onProgress } = request;
  const { grid, block, placement, shared } = other;
  const asked = { grid: request.grid, block: request.block, placement, sharedExtents: shared?.extents ?? null };
  const blocks = blocksOf(asked);
  // Each property by name: V8 then knows where they are. A copy by `...` makes every launch some microseconds longer.
  const all: { readonly [K in keyof Required<LaunchRequest>]: LaunchRequest[K] | undefined } = {
    kernel: request.kernel,
    grid,
    block,
    asked,
    cluster: undefined,
    blocks: undefined,
    sharedBytes: request.sharedBytes + (shared?.moreBytes ?? 0),
    params: request.params,
    threads: undefined,
    sanitize: request.sanitize,
    shadow: request.shadow,
    seed: request.seed,
    steering: request.steering,
    maxSteps: request.maxSteps,
    timeoutMs: request.timeoutMs,
    environment: request.environment,
    hostClock: request.hostClock,
    matrix: request.matrix,
    hostThreads: request.hostThreads,
    onProgress:
      onProgress === undefined
        ? undefined
        : ({ blocksDone, steps }) =>
            onProgress({ blocksDone: Math.floor((blocksDone / blocksOf({ grid })) * blocks), blocks, steps }),
    onReport: request.onReport,
    onOutput: request.onOutput,
    onDeviceWork: request.onDeviceWork,
    deviceFacts: request.deviceFacts,
    deviceGraphs: request.deviceGraphs,
  };
  return all as LaunchRequest;
}

const blocksOf = ({ grid: [x, y, z] }: Pick<Blocks, "grid">): number => x * y * z;
