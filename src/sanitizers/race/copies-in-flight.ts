import type { Site } from "../../machine/state/code.ts";
import type { LaneEvent } from "../../machine/events.ts";
import type { Activation, Cta, Warp } from "../../machine/state/launch-state.ts";

/** A copy by one lane that is not known to be complete. */
export interface Pending {
  readonly warp: Warp;
  readonly lane: number;
  readonly site: Site;
  readonly activation: Activation;
  /** The memory that it reads and writes. */
  readonly uses: Use[];
}

/** Bytes of the device's memory, or of a block's shared memory. */
export interface Located {
  readonly kind: "global" | "shared";
  /** The block whose shared memory it is, where an address within the cluster says so; else null. */
  readonly owner: Cta | null;
  readonly start: number;
  readonly end: number;
}

/** Memory that a copy uses. */
interface Use extends Located {
  readonly pending: Pending;
  readonly effect: "load" | "store" | "atomic";
  /** They are numbered as they begin. */
  readonly number: number;
}

const granule = 4;

/** Bytes from which on a use is in a list of its own: bulk copies are large, and few are in flight. */
const largeBytes = 512;

/** What copies use of one memory, by the granules that they touch. */
class Places {
  readonly #at = new Map<number, Set<Use>>();
  readonly #large = new Set<Use>();

  add(use: Use): void {
    if (isLarge(use)) {
      this.#large.add(use);
      return;
    }
    for (let at = Math.floor(use.start / granule); at * granule < use.end; at++) {
      let found = this.#at.get(at);
      if (found === undefined) this.#at.set(at, (found = new Set()));
      found.add(use);
    }
  }

  remove(use: Use): void {
    if (isLarge(use)) {
      this.#large.delete(use);
      return;
    }
    for (let at = Math.floor(use.start / granule); at * granule < use.end; at++) {
      const found = this.#at.get(at);
      found?.delete(use);
      if (found?.size === 0) this.#at.delete(at);
    }
  }

  /** The first by address of the uses of some bytes: of those at the same one the first that began. */
  find(range: Located, which: (use: Use) => boolean): Pending | null {
    let found = this.#findSmall(range, which);
    for (const use of this.#large) {
      if (use.start >= range.end || range.start >= use.end || !which(use)) continue;
      if (found === null || comesBefore(use, found, range)) found = use;
    }
    return found?.pending ?? null;
  }

  #findSmall({ start, end }: Located, which: (use: Use) => boolean): Use | null {
    if (this.#at.size === 0) return null;
    for (let at = Math.floor(start / granule); at * granule < end; at++) {
      for (const use of this.#at.get(at) ?? []) if (use.start < end && start < use.end && which(use)) return use;
    }
    return null;
  }
}

const isLarge = ({ start, end }: Use): boolean => end - start >= largeBytes;

/** Whether a use comes before another one among those of a range. */
function comesBefore(a: Use, b: Use, { start }: Located): boolean {
  const [inA, inB] = [a, b].map((use) => Math.floor(Math.max(use.start, start) / granule));
  return inA! < inB! || (inA === inB && a.number < b.number);
}

/** The copies of a launch that are not known to be complete, by the memory that they use. */
export class CopiesInFlight {
  readonly #global = new Places();
  readonly #shared = new WeakMap<Cta, Places>();
  #count = 0;
  #begun = 0;

  /** Whether there are none. */
  get areNone(): boolean {
    return this.#count === 0;
  }

  begin({ warp, site, activation }: LaneEvent, lane: number): Pending {
    return { warp, lane, site, activation, uses: [] };
  }

  /** The copy uses memory, until it is complete. */
  use(pending: Pending, effect: Use["effect"], range: Located): void {
    const use: Use = { ...range, pending, effect, number: this.#begun++ };
    pending.uses.push(use);
    this.#count++;
    this.#placesOf(range, pending.warp.cta).add(use);
  }

  /** The copy has read what it copies. */
  endReading(pending: Pending): void {
    this.#end(pending, (effect) => effect === "load");
  }

  end(pending: Pending): void {
    this.#end(pending, () => true);
  }

  /** A copy that an access of a block disturbs, other than `own`. Reductions do not disturb each other, nor atomics. */
  disturbed(cta: Cta, effect: Use["effect"], range: Located, own: Pending | null): Pending | null {
    return this.#placesOf(range, cta).find(
      range,
      (use) => use.pending !== own && (use.effect !== effect || effect === "store"),
    );
  }

  #end(pending: Pending, which: (effect: Use["effect"]) => boolean): void {
    for (let i = pending.uses.length - 1; i >= 0; i--) {
      const use = pending.uses[i]!;
      if (!which(use.effect)) continue;
      pending.uses.splice(i, 1);
      this.#count--;
      this.#placesOf(use, pending.warp.cta).remove(use);
    }
  }

  #placesOf({ kind, owner }: Located, own: Cta): Places {
    if (kind === "global") return this.#global;
    const cta = owner ?? own;
    let places = this.#shared.get(cta);
    if (places === undefined) this.#shared.set(cta, (places = new Places()));
    return places;
  }
}
