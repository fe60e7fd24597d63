import type { Restore } from "../machine/memory/checkpoint.ts";
import type { FrozenMemory } from "../machine/memory/frozen-memory.ts";

/** The state of the machine at one time. */
export interface Checkpoint {
  /** In instructions of warps since the first launch began. */
  readonly time: number;
  /** The index of the launch that is running. */
  readonly launch: number;
  readonly memory: FrozenMemory;
  /** Restores the launch. */
  readonly restore: Restore;
  /** The size of the launch's state in bytes, without the device's memory. */
  readonly bytes: number;
  /**
   * Whether going forward from an earlier checkpoint does not lead here by itself: another launch begins, the user has
   * changed a value, or observers refer to these very objects. A seam is never dropped.
   */
  readonly isSeam: boolean;
}

const maxCheckpoints = 512;

/** Checkpoints in the order of time: dense around the present, sparser the farther away from it. */
export class Checkpoints {
  readonly #limit: number;
  #list: Checkpoint[] = [];

  /** `limit` is the most bytes that checkpoints may occupy, apart from seams. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#list.length;
  }

  /**
   * Returns the last checkpoint at or before a time. Of several at one time, that is the one whose state the debugger
   * shows.
   */
  lastAtOrBefore(time: number): Checkpoint | null {
    return this.#list[this.#after(time) - 1] ?? null;
  }

  /** Returns the first seam after a time. */
  nextSeam(time: number): Checkpoint | null {
    for (let i = this.#after(time); i < this.#list.length; i++) if (this.#list[i]!.isSeam) return this.#list[i]!;
    return null;
  }

  /** Adds a checkpoint, and drops others that no longer fit. */
  add(checkpoint: Checkpoint): void {
    this.#list.splice(this.#after(checkpoint.time), 0, checkpoint);
    this.#thin(checkpoint.time);
  }

  remove(checkpoint: Checkpoint): void {
    this.#list = this.#list.filter((other) => other !== checkpoint);
  }

  /** Drops the checkpoints from a time on, because the future has changed. */
  cutFrom(time: number): void {
    this.#list = this.#list.filter((checkpoint) => checkpoint.time < time);
  }

  /** Returns the index of the first checkpoint after a time. */
  #after(time: number): number {
    let low = 0;
    let high = this.#list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#list[middle]!.time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Drops the checkpoints that leave the smallest gaps relative to their distance from the present. */
  #thin(now: number): void {
    while (this.#list.length > maxCheckpoints || this.#bytes() > this.#limit) {
      let least = Infinity;
      let worst = -1;
      for (let i = 1; i < this.#list.length - 1; i++) {
        const { time, isSeam } = this.#list[i]!;
        if (isSeam) continue;
        const score = (this.#list[i + 1]!.time - this.#list[i - 1]!.time) / (1 + Math.abs(now - time));
        if (score < least) [least, worst] = [score, i];
      }
      if (worst < 0) return;
      this.#list.splice(worst, 1);
    }
  }

  /**
   * Counts a page that several checkpoints share for the first of them only; when that one is dropped, the next one
   * owns it.
   */
  #bytes(): number {
    return this.#list.reduce((sum, { bytes, memory }) => sum + bytes + memory.pages.ownBytes, 0);
  }
}
