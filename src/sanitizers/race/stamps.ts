import type { Site } from "../../machine/code.ts";
import { AccessKind, type MemoryOp } from "./access-kind.ts";

/** Of those there may be, before it is looked which are still in use. */
const fewest = 1 << 20;

/**
 * Which instruction accessed a place and when, as one number: there is a new one for an instruction when time has gone on.
 * 0 is none.
 */
export class Stamps {
  /** By number. */
  times: number[] = [0];
  /** By number less 1. */
  #kinds: AccessKind[] = [];
  #most = fewest;
  readonly #bySite = new Map<Site, AccessKind>();

  /** `site`: a load, a store or an atomic operation. */
  kindOf(site: Site): AccessKind {
    let kind = this.#bySite.get(site);
    if (kind === undefined) this.#bySite.set(site, (kind = new AccessKind(site, site.instruction.op as MemoryOp)));
    return kind;
  }

  kindAt(stamp: number): AccessKind {
    return this.#kinds[stamp - 1]!;
  }

  stamp(kind: AccessKind, time: number): number {
    if (kind.time === time) return kind.stamp;
    kind.time = time;
    this.times.push(time);
    return (kind.stamp = this.#kinds.push(kind));
  }

  get areMany(): boolean {
    return this.times.length > this.#most;
  }

  /** Forgets those that are in no cell, and numbers the others anew. In `cells` every other word is a stamp, from the second on. */
  renumber(cells: readonly Int32Array[]): void {
    const numbers = new Int32Array(this.times.length);
    for (const words of cells) for (let i = 1; i < words.length; i += 2) numbers[words[i]!] = 1;
    const times = [0];
    const kinds: AccessKind[] = [];
    for (let old = 1; old < numbers.length; old++) {
      if (numbers[old] === 0) continue;
      times.push(this.times[old]!);
      numbers[old] = kinds.push(this.kindAt(old));
    }
    numbers[0] = 0;
    for (const words of cells) for (let i = 1; i < words.length; i += 2) words[i] = numbers[words[i]!]!;
    this.times = times;
    this.#kinds = kinds;
    this.#most = Math.max(fewest, 2 * times.length);
    for (const kind of this.#bySite.values()) kind.time = -1;
  }
}
