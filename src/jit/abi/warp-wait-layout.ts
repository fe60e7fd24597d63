import { warpName, type WarpOp } from "../../ir/index.ts";
import { maxThreads } from "./launch-shape.ts";
import { Unsupported } from "./refusal.ts";

/**
 * The memory of a warp whose lanes may wait for each other at warp-wide operations: offsets in bytes. Masks of lanes
 * are words, values have a word for each lane.
 */
export const warpWait = {
  /** Lanes that have not exited. */
  live: 0,
  /** Lanes that wait for others. */
  waiting: 4,
  /** Lanes for which an operation has been performed while they waited, and that have not resumed yet. */
  done: 8,
  /** Groups of lanes that have begun to wait so far. */
  arrivals: 12,
  /** By kind of operation, the lanes that wait at one. */
  kinds: 64,
  /** The operation at which a lane waits: its site number plus 1. */
  sites: 128,
  /** The same for an operation that has been performed; else 0. */
  doneAt: 256,
  /** The member mask that the lane has named. */
  named: 384,
  /** Operands, of which the first may have 64 bits (a predicate is a word of ones or zeros). */
  a: 512,
  b: 768,
  c: 896,
  /** Results, of 32 bits, or predicates as words of ones or zeros. */
  first: 1024,
  second: 1152,
  /** When the lane's group has arrived, as counted by `arrivals`. */
  order: 1280,
} as const;

/** The offset of an operand of an operation, by its number. */
export function operandAt(operand: number): number {
  const at = [warpWait.a, warpWait.b, warpWait.c][operand];
  if (at === undefined) throw new Unsupported(`a warp-wide operation with ${operand + 1} operands`);
  return at;
}

/** Bytes of a warp. */
export const warpWaitBytes = 1408;

/** Warps of a block, at most. */
export const maxWarps = maxThreads / 32;

/** Kinds of operations: lanes at different operations of one kind can perform them together. */
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
  "align",
] as const;

export type WarpWaitKind = (typeof warpWaitKinds)[number];

export function kindOf(op: WarpOp): WarpWaitKind {
  const name = warpName(op);
  const found = warpWaitKinds.find((kind) => kind === name);
  if (found === undefined) throw new Unsupported(`${name} by lanes that arrive one after the other`);
  return found;
}
