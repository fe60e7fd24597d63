import type { Restore } from "../memory/checkpoint.ts";
import type { Activation } from "./activation.ts";
import type { Reduction } from "./barrier.ts";
import type { BasicBlock, Site } from "./code.ts";

/** What a group brings to a barrier. */
export interface BarrierArrival {
  readonly site: Site;
  readonly mode: "sync" | "arrive" | "red" | "wait";
  readonly aligned: boolean;
  /** Threads; null for all of the block. */
  readonly count: number | null;
  /** Lanes whose predicate is true. */
  readonly votes: number;
  /** Writes the result, where there is one, and lets the group go on. */
  readonly release: (reduction: Reduction) => void;
}

/** What a group brings to a warp-wide operation. */
export interface WarpArrival {
  readonly site: Site;
  /** Operations with the same key can meet (section 9.7.9.6: the same qualifiers and the same mask). */
  readonly key: string;
  /** The lanes of the member mask. */
  readonly named: number;
  /** Acts for all groups that have met. */
  readonly act: (groups: readonly Group[]) => void;
}

/** Why a group does not run. */
export type Wait =
  /** For the other lanes of its warp, at a barrier. */
  | { readonly kind: "converge"; readonly barrier: number; readonly arrival: BarrierArrival }
  /** For other warps: the warp has arrived at the barrier. */
  | { readonly kind: "barrier"; readonly barrier: number; readonly arrival: BarrierArrival }
  /** For the lanes of a member mask, at a warp-wide operation. */
  | { readonly kind: "lanes"; readonly arrival: WarpArrival };

/** Lanes of a warp that run together: the same activation, the same place. */
export class Group {
  readonly activation: Activation;
  at: BasicBlock;
  mask: number;
  /** How often the group has given way: who has given way less runs first. */
  turn: number;
  wait: Wait | null = null;

  constructor(activation: Activation, at: BasicBlock, mask: number, turn: number) {
    this.activation = activation;
    this.at = at;
    this.mask = mask;
    this.turn = turn;
  }

  checkpoint(): Restore {
    const { at, mask, turn, wait } = this;
    return () => void Object.assign(this, { at, mask, turn, wait });
  }
}
