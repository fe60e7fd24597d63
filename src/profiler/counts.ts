/**
 * What is counted, for one instruction or summed over several. A group is the set of lanes of a warp that come to an
 * instruction together; in vISA, a warp is a hardware thread. docs/profiler.md says more.
 */
export interface Counts {
  /** Instructions issued: one for each group that comes to one, even if its guard holds in no lane. */
  readonly warpInstructions: number;
  /** Instructions executed by lanes. A guarded branch is executed by all lanes that evaluate it. */
  readonly threadInstructions: number;
  /** Lanes of the groups that came to instructions, whether or not their guards held. */
  readonly reachedLanes: number;
  /** Lanes that could have executed: all lanes of the warp or, in vISA, those of the execution size. */
  readonly laneSlots: number;
  /** Conditional and indexed branches, by groups. */
  readonly branches: number;
  /** Branches at which the lanes of a group did not all go one way. */
  readonly divergentBranches: number;
  /** Accesses to global memory, by groups. */
  readonly globalRequests: number;
  /** Bytes that the lanes asked for. */
  readonly globalBytes: number;
  /** Different sectors of 32 bytes that each request touched. */
  readonly globalSectors: number;
  /** The fewest sectors that could hold the different bytes of each request. */
  readonly globalLeastSectors: number;
  /** Accesses to local memory (stacks and local variables), by groups. It is interleaved word by word between lanes. */
  readonly localRequests: number;
  /** Bytes that the lanes asked for. */
  readonly localBytes: number;
  /** Different sectors of 32 bytes that each request touched. */
  readonly localSectors: number;
  /** The fewest sectors that could hold the different bytes of each request. */
  readonly localLeastSectors: number;
  /** Accesses to shared memory, by groups. */
  readonly sharedRequests: number;
  /** Bytes that the lanes asked for. */
  readonly sharedBytes: number;
  /** Passes over the 32 banks; in one pass a bank serves one word of 4 bytes to all lanes that want it. */
  readonly sharedPasses: number;
  /** Passes that bank conflicts add. */
  readonly sharedConflicts: number;
  /** Accesses to constants and kernel parameters, by groups. */
  readonly constantRequests: number;
  /** Different addresses in each of these requests. */
  readonly constantPasses: number;
  /** Atomic operations, by groups. */
  readonly atomicRequests: number;
  /** Atomic operations, by lanes. */
  readonly atomicLanes: number;
  /** Different addresses in each atomic request. */
  readonly atomicAddresses: number;
  /** Lanes at the most frequent address of each atomic request; these take turns. */
  readonly atomicRounds: number;
  /** Products of matrices, by warps: of a warpgroup's product each warp computes a part. */
  readonly matrixProducts: number;
  /** Multiplications and additions in these: of sparse matrices, of the elements that are present. */
  readonly multiplyAdds: number;
  /** Asynchronous copies that lanes have issued, reductions included: cp.async, bulk and tensor copies, tcgen05.cp. */
  readonly asyncCopies: number;
  /** Bytes that they write: of a multicast, those in each block. */
  readonly asyncBytes: number;
  /** Arrivals of warps at barriers. */
  readonly barrierArrivals: number;
  /** Warp-instructions that the block executed between an arrival and its release. */
  readonly barrierWaited: number;
  /** Warp-instructions by which the last warp to arrive had more to execute, as if all warps ran at once. */
  readonly barrierBehind: number;
  /** Calls, by groups. */
  readonly calls: number;
  /** Calls, by lanes. */
  readonly callLanes: number;
  /** Indirect calls whose lanes went to several functions. */
  readonly divergentCalls: number;
}

/** The name of a count. */
export type CountName = keyof Counts;

/** Counts that are still being added up. */
export type Tally = Record<CountName, number>;

/** Returns counts that are all 0. An object literal gives all of them the same hidden class. */
export const newTally = (): Tally => ({
  warpInstructions: 0,
  threadInstructions: 0,
  reachedLanes: 0,
  laneSlots: 0,
  branches: 0,
  divergentBranches: 0,
  globalRequests: 0,
  globalBytes: 0,
  globalSectors: 0,
  globalLeastSectors: 0,
  localRequests: 0,
  localBytes: 0,
  localSectors: 0,
  localLeastSectors: 0,
  sharedRequests: 0,
  sharedBytes: 0,
  sharedPasses: 0,
  sharedConflicts: 0,
  constantRequests: 0,
  constantPasses: 0,
  atomicRequests: 0,
  atomicLanes: 0,
  atomicAddresses: 0,
  atomicRounds: 0,
  matrixProducts: 0,
  multiplyAdds: 0,
  asyncCopies: 0,
  asyncBytes: 0,
  barrierArrivals: 0,
  barrierWaited: 0,
  barrierBehind: 0,
  calls: 0,
  callLanes: 0,
  divergentCalls: 0,
});

/** The names of all counts. */
export const countNames = Object.keys(newTally()) as readonly CountName[];

/** Adds `from` to `to`, count by count. */
export function addCounts(to: Tally, from: Counts): void {
  for (const name of countNames) to[name] += from[name];
}

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/**
 * Returns the share of lanes in use: executing lanes among all lanes of a warp, from 0 to 1. Null if nothing has run.
 */
export const laneUse = (c: Counts): number | null => share(c.threadInstructions, c.laneSlots);

/**
 * Returns the share of conditional branches at which all lanes go one way, from 0 to 1. Null if there were no branches.
 */
export const branchAgreement = (c: Counts): number | null => share(c.branches - c.divergentBranches, c.branches);

/**
 * Returns the fewest sectors of global and local memory that could hold the requested bytes, divided by the number of
 * sectors touched: 0 to 1. Null if there was no such traffic.
 */
export const sectorEfficiency = (c: Counts): number | null =>
  share(c.globalLeastSectors + c.localLeastSectors, c.globalSectors + c.localSectors);
