import type { Site } from "../../machine/state/code.ts";
import { AccessKind, type MadeAccess } from "./access-kind.ts";
import type { WarpOrder } from "./warp-order.ts";

/** The number of events beyond which unused ones are discarded. */
const minEvents = 1 << 18;

/**
 * Numbers events: an event is the accesses of a warp's lanes by one access of an instruction, after the same point of
 * synchronization of the warp. Numbers are above 0.
 */
export class AccessEvents {
  /** By number, the time and the warp's number in the grid. */
  times: number[] = [0];
  warps: number[] = [0];
  #kinds: AccessKind[] = [];
  #max = minEvents;
  /** By instruction, its accesses by their ordinals. */
  readonly #bySite = new Map<Site, AccessKind[]>();
  #known = 0;

  kindOf(site: Site, ordinal = 0, own: MadeAccess | null = null): AccessKind {
    let kinds = this.#bySite.get(site);
    if (kinds === undefined) this.#bySite.set(site, (kinds = []));
    return (kinds[ordinal] ??= new AccessKind(site, ordinal, this.#known++, own));
  }

  /** The access of an event. */
  kindAt(event: number): AccessKind {
    return this.#kinds[event - 1]!;
  }

  /** The event of a warp that makes this access now. */
  of(kind: AccessKind, { number, now, last }: WarpOrder): number {
    const known = last[kind.index] ?? 0;
    // A number from before `renumber` may be that of another event.
    if (this.times[known] === now && this.warps[known] === number && this.#kinds[known - 1] === kind) return known;
    this.times.push(now);
    this.warps.push(number);
    return (last[kind.index] = this.#kinds.push(kind));
  }

  get areMany(): boolean {
    return this.times.length > this.#max;
  }

  /** Discards events that are in no table, and renumbers the others. `tables`: events, 0 for none. */
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
    this.#max = Math.max(minEvents, 2 * times.length);
  }
}
