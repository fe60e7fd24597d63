import type { AccessEvent, Observer } from "lanewise";
import type { MemoryAccess } from "./protocol.ts";

/** A place: device memory, or the shared memory of a block. */
export type LoggedSpace = "global" | { readonly shared: number };

/** Accesses that are kept. What comes later is not known; `isFull` says so. */
const maxKept = 400_000;

/** Remembers who has accessed global and shared memory, and when. */
export class AccessLog {
  readonly #now: () => number;
  readonly #times: number[] = [];
  readonly #starts: number[] = [];
  readonly #sizes: number[] = [];
  /** -1: global; else the block. */
  readonly #spaces: number[] = [];
  readonly #lanes: number[] = [];
  readonly #events: { block: number; warp: number; line: number; effect: MemoryAccess["effect"] }[] = [];
  readonly #eventOf: number[] = [];

  /** `now` is the time of the instruction that makes an access. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get isFull(): boolean {
    return this.#times.length >= maxKept;
  }

  /** To be among the observers of the launches. */
  get observer(): Observer {
    return { access: (event) => this.#access(event) };
  }

  /**
   * For each unit of `size` bytes of a range, the last store before a time, and the accesses that are made at it. Null:
   * nobody has written.
   */
  history(space: LoggedSpace, range: { start: number; units: number; size: number }, time: number): MapHistory {
    const writers = new Array<MemoryAccess | null>(range.units).fill(null);
    const now = new Array<MemoryAccess | null>(range.units).fill(null);
    const wanted = space === "global" ? -1 : space.shared;
    const end = range.start + range.units * range.size;
    for (let i = 0; i < this.#times.length && this.#times[i]! <= time; i++) {
      if (this.#spaces[i] !== wanted) continue;
      const [from, to] = [this.#starts[i]!, this.#starts[i]! + this.#sizes[i]!];
      if (to <= range.start || from >= end) continue;
      const event = this.#events[this.#eventOf[i]!]!;
      const isNow = this.#times[i] === time;
      if (!isNow && event.effect === "load") continue;
      const access = { time: this.#times[i]!, lane: this.#lanes[i]!, ...event };
      const first = Math.max(0, Math.floor((from - range.start) / range.size));
      const last = Math.min(range.units, Math.ceil((to - range.start) / range.size));
      (isNow ? now : writers).fill(access, first, last);
    }
    return { writers, now };
  }

  /** The first of some ranges that anybody writes to; null: nobody does. */
  firstWritten<R extends { space: LoggedSpace; start: number; size: number; elements: number }>(
    ranges: readonly R[],
  ): R | null {
    for (const range of ranges) {
      const space = range.space === "global" ? -1 : range.space.shared;
      const end = range.start + range.size * range.elements;
      const isWritten = this.#starts.some(
        (at, i) =>
          at >= range.start &&
          at < end &&
          this.#spaces[i] === space &&
          this.#events[this.#eventOf[i]!]!.effect !== "load",
      );
      if (isWritten) return range;
    }
    return null;
  }

  #access({ warp, site, mask, effect, access, addressWords }: AccessEvent): void {
    if (this.isFull) return;
    const { addresses } = warp.cta.grid;
    const { ticket } = warp.cta;
    const line = site.code.ir.source.position(site.instruction.span.start).line;
    const event = this.#events.push({ block: ticket, warp: warp.index, line, effect }) - 1;
    const size = (access.bits / 8) * access.count;
    for (let lane = 0; lane < 32; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const low = addressWords[2 * lane]! >>> 0;
      const at = addresses.classify({ high: addressWords[2 * lane + 1]! >>> 0, low });
      if (at.kind !== "global" && at.kind !== "shared") continue;
      this.#times.push(this.#now());
      this.#starts.push(at.kind === "global" ? at.offset : low);
      this.#sizes.push(size);
      this.#spaces.push(at.kind === "global" ? -1 : ticket);
      this.#lanes.push(lane);
      this.#eventOf.push(event);
    }
  }
}

/** Who wrote last, and who accesses now, by unit. */
export interface MapHistory {
  readonly writers: readonly (MemoryAccess | null)[];
  readonly now: readonly (MemoryAccess | null)[];
}
