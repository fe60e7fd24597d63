import type { Site } from "../../machine/state/code.ts";
import { AccessKind } from "./access-kind.ts";
import type { WarpOrder } from "./warp-order.ts";

/** Of those there may be, before it is looked which are still in use. */
const fewest = 1 << 18;

/**
 * Accesses by the lanes of a warp: which instruction, which warp, and after which of the warp's points of synchronization. One
 * number stands for all accesses that have these in common; it is above 0.
 */
export class AccessEvents {
  /** By number, the time, and the warp's number in the grid. */
  times: number[] = [0];
  warps: number[] = [0];
  #kinds: AccessKind[] = [];
  #most = fewest;
  readonly #bySite = new Map<Site, AccessKind>();

  kindOf(site: Site): AccessKind {
    let kind = this.#bySite.get(site);
    if (kind === undefined) {
      this.#bySite.set(site, (kind = new AccessKind(site, this.#bySite.size)));
    }
    return kind;
  }

  /** What an event did. */
  kindAt(event: number): AccessKind {
    return this.#kinds[event - 1]!;
  }

  /** The event of a warp that does this now. */
  of(kind: AccessKind, { number, now, last }: WarpOrder): number {
    const known = last[kind.index] ?? 0;
    // A number from before `renumber` may be that of another event.
    if (this.times[known] === now && this.warps[known] === number && this.#kinds[known - 1] === kind) return known;
    this.times.push(now);
    this.warps.push(number);
    return (last[kind.index] = this.#kinds.push(kind));
  }

  get areMany(): boolean {
    return this.times.length > this.#most;
  }

  /** Forgets those that no table has, and numbers the others anew. `tables`: events, 0 for none. */
  renumber(tables: readonly Int32Array[]): void {
    const numbers = new Int32Array(this.times.length);
    for (const table of tables) for (const event of table) numbers[event] = 1;
    const [times, warps] = [[0], [0]];
    const kinds: AccessKind[] = [];
    for (let old = 1; old < numbers.length; old++) {
      if (numbers[old] === 0) continue;
      times.push(this.times[old]!);
      warps.push(this.warps[old]!);
      numbers[old] = kinds.push(this.kindAt(old));
    }
    numbers[0] = 0;
    for (const table of tables) for (let i = 0; i < table.length; i++) table[i] = numbers[table[i]!]!;
    this.times = times;
    this.warps = warps;
    this.#kinds = kinds;
    this.#most = Math.max(fewest, 2 * times.length);
  }
}
