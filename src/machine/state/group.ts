import type { Restore } from "../memory/checkpoint.ts";
import type { Activation, BasicBlock, Group, Wait } from "./launch-state.ts";

/** Lanes of an activation that begin to run at a block. */
export class LaneGroup implements Group {
  readonly activation: Activation;
  at: BasicBlock;
  mask: number;
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
