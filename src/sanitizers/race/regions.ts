import { windows } from "../../ir/index.ts";
import type { AddressSpace } from "../../machine/memory/address-space.ts";
import type { Allocation } from "../../machine/memory/allocation.ts";
import { sharedOwner } from "../../machine/state/cluster.ts";
import type { Cta, Grid } from "../../machine/state/launch-state.ts";
import { Shadow } from "./shadow.ts";

/** A range of addresses in one memory, with the shadow of its accesses. */
export interface Region {
  /** The upper half of its addresses, and the first of the lower halves, as signed words. */
  readonly high: number;
  readonly low: number;
  readonly bytes: number;
  /** Null for memory that only one thread can access. */
  readonly shadow: Shadow | null;
  /** The block whose shared memory it is; null for other memory. */
  readonly cta: Cta | null;
}

export const nowhere: Region = { high: 0, low: 0, bytes: 0, shadow: null, cta: null };

/** Finds the regions of addresses. */
export class Regions {
  readonly #grid: Grid;
  readonly #addresses: AddressSpace;
  readonly #global = new Map<Allocation, Region>();
  readonly #shared = new Map<Cta, readonly Region[]>();

  constructor(grid: Grid) {
    this.#grid = grid;
    this.#addresses = grid.addresses;
  }

  /** The region at an address, for the threads of a block. */
  find(cta: Cta, high: number, low: number): Region {
    const kind = this.#addresses.classify({ high: high >>> 0, low: low >>> 0 });
    if (kind.kind === "shared") return this.#sharedAt(cta, low >>> 0, kind.generic);
    if (kind.kind === "global") return this.#ofOffset(kind.offset, high);
    if (kind.kind === "null" || kind.kind === "unknown") return nowhere;
    const { from, end } = windows[kind.kind];
    return { high, low: from, bytes: end - from, shadow: null, cta: null };
  }

  /** All shadows. */
  get shadows(): ReadonlySet<Shadow> {
    const regions = [...this.#global.values(), ...[...this.#shared.values()].flat()];
    return new Set(regions.flatMap(({ shadow }) => shadow ?? []));
  }

  /** Forgets a region that has been freed. */
  forget({ low }: Region): void {
    const allocation = this.#grid.memory.find((low >>> 0) - this.#addresses.globalLow);
    if (allocation !== null) this.#global.delete(allocation);
  }

  #ofOffset(offset: number, high: number): Region {
    const allocation = this.#grid.memory.find(offset);
    if (allocation === null) return nowhere;
    let region = this.#global.get(allocation);
    if (region === undefined) this.#global.set(allocation, (region = this.#make(allocation, high)));
    return region;
  }

  #make({ start, end, perThread }: Allocation, high: number): Region {
    const low = (this.#addresses.globalLow + start) | 0;
    return { high, low, bytes: end - start, shadow: perThread ? null : new Shadow(end - start), cta: null };
  }

  /** Shared memory that an address means to a block: its own, or that of another one of its cluster. */
  #sharedAt(cta: Cta, low: number, generic: boolean): Region {
    const { block, low: own } = sharedOwner(cta, low);
    if (block === null || typeof block === "string") return nowhere;
    const region = this.#sharedOf(block)[generic ? 1 : 0]!;
    return own === low ? region : { ...region, low: region.low + low - own };
  }

  /** The regions of shared memory: by addresses of the shared space, and by generic ones. */
  #sharedOf(cta: Cta): readonly Region[] {
    let regions = this.#shared.get(cta);
    if (regions === undefined) {
      const { start: low } = windows.shared;
      const bytes = cta.shared.u8.length;
      const shadow = new Shadow(bytes);
      regions = [0, this.#addresses.windowHigh | 0].map((high) => ({ high, low, bytes, shadow, cta }));
      this.#shared.set(cta, regions);
    }
    return regions;
  }
}
