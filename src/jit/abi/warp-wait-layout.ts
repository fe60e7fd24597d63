import { warpName, type WarpOp } from "../../ir/index.ts";
import { maxThreads } from "./launch-shape.ts";
import { Unsupported } from "./refusal.ts";

/**
 * What memory holds of a warp whose lanes may have to wait for each other at warp-wide operations, in bytes from its beginning:
 * masks of lanes as words, and values by lane.
 */
export const warpWait = {
  /** Lanes that have not ended. */
  live: 0,
  /** Lanes that wait for others. */
  waiting: 4,
  /** Lanes for which an operation has been performed while they waited, and who have yet to take note. */
  done: 8,
  /** How many groups of lanes have come to wait. */
  arrivals: 12,
  /** By the kind of an operation, the lanes that wait at one. */
  kinds: 64,
  /** Where a lane waits: 1 and the number of the operation as the launcher knows it. */
  sites: 128,
  /** The same of one that is done; else 0. */
  doneAt: 256,
  /** The member mask that it has named. */
  named: 384,
  /** Its operands, of which the first may have 64 bits (a predicate is a word of ones or zeros). */
  a: 512,
  b: 768,
  c: 896,
  /** Its results, of 32 bits, or predicates as words of ones or zeros. */
  first: 1024,
  second: 1152,
  /** When its group has come, counted by `arrivals`. */
  order: 1280,
} as const;

/** Where an operand of an operation lies, by its number. */
export function operandAt(operand: number): number {
  const at = [warpWait.a, warpWait.b, warpWait.c][operand];
  if (at === undefined) throw new Unsupported(`a warp-wide operation with ${operand + 1} operands`);
  return at;
}

/** Bytes for a warp. */
export const warpWaitBytes = 1408;

/** Warps of a block, at most. */
export const maxWarps = maxThreads / 32;

/** Operations of the same kind can be performed together though they stand at different places. */
export const warpWaitKinds = [
  "shfl.up",
  "shfl.down",
  "shfl.bfly",
  "shfl.idx",
  "vote.all",
  "vote.any",
  "vote.uni",
  "vote.ballot",
  "match.any",
  "match.all",
  "redux",
  "elect",
  "sync",
] as const;

export type WarpWaitKind = (typeof warpWaitKinds)[number];

export function kindOf(op: WarpOp): WarpWaitKind {
  const name = warpName(op);
  return warpWaitKinds.find((kind) => kind === name)!;
}
