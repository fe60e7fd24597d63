import type { Restore } from "../machine/memory/checkpoint.ts";
import type { FrozenMemory } from "../machine/memory/memory.ts";

/** The machine as it was at one time. */
export interface Checkpoint {
  readonly time: number;
  /** Which launch of the program runs. */
  readonly launch: number;
  readonly memory: FrozenMemory;
  /** Of the launch. */
  readonly restore: Restore;
  /** Bytes of it, beside the device's memory. */
  readonly bytes: number;
  /**
   * Going forward from before does not lead there by itself: another launch begins, somebody has changed a value, or observers
   * know these very objects. Never thinned out.
   */
  readonly isSeam: boolean;
}

const mostCheckpoints = 512;

/** Checkpoints in the order of time: dense around the present, and fewer the farther away from it they are. */
export class Checkpoints {
  readonly #limit: number;
  #list: Checkpoint[] = [];

  /** `limit`: bytes that they may keep, seams aside. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#list.length;
  }

  /** Of several at the same time the last is what a debugger shows. */
  lastAtOrBefore(time: number): Checkpoint | null {
    return this.#list[this.#after(time) - 1] ?? null;
  }

  /** The first seam behind a time. */
  nextSeam(time: number): Checkpoint | null {
    for (let i = this.#after(time); i < this.#list.length; i++) if (this.#list[i]!.isSeam) return this.#list[i]!;
    return null;
  }

  add(checkpoint: Checkpoint): void {
    this.#list.splice(this.#after(checkpoint.time), 0, checkpoint);
    this.#thin(checkpoint.time);
  }

  remove(checkpoint: Checkpoint): void {
    this.#list = this.#list.filter((other) => other !== checkpoint);
  }

  /** What is behind a time has not happened. */
  cutFrom(time: number): void {
    this.#list = this.#list.filter((checkpoint) => checkpoint.time < time);
  }

  /** The index of the first that is later. */
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

  /** Drops those that leave the smallest gaps, compared with their distance from the present. */
  #thin(now: number): void {
    while (this.#list.length > mostCheckpoints || this.#bytes() > this.#limit) {
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

  /** A page that several share counts for the first of them; what is dropped may leave it to the next. */
  #bytes(): number {
    return this.#list.reduce((sum, { bytes, memory }) => sum + bytes + memory.pages.ownBytes, 0);
  }
}
