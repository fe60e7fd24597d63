/** Why compiled code cannot continue a launch, as it tells its host. */
const reasons = {
  deepCalls: "calls that nest too deeply for the stack of WebAssembly",
  fullStacks: "calls that need more of the stacks of lanes than compiled code has room for",
  deepWaits: "lanes that wait for others in calls that nest too deeply",
  manyWaits: "lanes that wait for others in more calls at a time than compiled code has room for",
  namedElsewhere: "an operation in a function that names lanes of the warp which are not there",
  namedGroups: "an operation in a function for which lanes of the warp name different groups",
  partialArrival: "lanes that come to a barrier without the other lanes of their warp",
  mixedBarriers: "lanes of a warp that come to a barrier with different numbers or counts",
  endedThreads: "hardware threads that wait at a barrier for others that have ended",
} as const;

export type GiveUpReason = keyof typeof reasons;

/**
 * What the numbers mean that compiled code gives to `giveUp`, in order. Built modules (docs/build.md) and modules in a
 * cache have the numbers: new reasons come last.
 */
export const giveUpReasons: readonly string[] = Object.values(reasons);

export const numberOfReason = (reason: GiveUpReason): number => Object.keys(reasons).indexOf(reason);

/** The reason where the host itself notices that its stack is full. */
export const deepCalls: string = reasons.deepCalls;
