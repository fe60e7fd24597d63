/** What is counted, at an instruction or summed up over several. docs/profiler.md says what each one is. */
export const countNames = [
  "warpInstructions",
  "threadInstructions",
  "reachedLanes",
  "laneSlots",
  "branches",
  "divergentBranches",
  "globalRequests",
  "globalBytes",
  "globalSectors",
  "globalLeastSectors",
  "localRequests",
  "localBytes",
  "localSectors",
  "localLeastSectors",
  "sharedRequests",
  "sharedBytes",
  "sharedPasses",
  "sharedConflicts",
  "constantRequests",
  "constantPasses",
  "atomicRequests",
  "atomicLanes",
  "atomicAddresses",
  "atomicRounds",
  "barrierArrivals",
  "barrierWaited",
  "barrierBehind",
  "calls",
  "callLanes",
  "divergentCalls",
] as const;

export type CountName = (typeof countNames)[number];
export type Counts = Readonly<Record<CountName, number>>;
export type Tally = Record<CountName, number>;

/** All at 0. An object literal, so that all have one shape. */
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
  barrierArrivals: 0,
  barrierWaited: 0,
  barrierBehind: 0,
  calls: 0,
  callLanes: 0,
  divergentCalls: 0,
});

export function addCounts(to: Tally, from: Counts): void {
  for (const name of countNames) to[name] += from[name];
}

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Of the lanes that a warp has, the share that executes; null where nothing has run. */
export const laneUse = (c: Counts): number | null => share(c.threadInstructions, c.laneSlots);

/** Of the conditional branches, the share at which all lanes go one way; null where there are none. */
export const branchAgreement = (c: Counts): number | null => share(c.branches - c.divergentBranches, c.branches);

/** The fewest sectors that could hold what is asked for, against those that are touched; null where there is no traffic. */
export const sectorEfficiency = (c: Counts): number | null =>
  share(c.globalLeastSectors + c.localLeastSectors, c.globalSectors + c.localSectors);
