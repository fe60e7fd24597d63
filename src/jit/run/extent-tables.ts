import type { AddressSpace } from "../../machine/memory/address-space.ts";
import type { Extent } from "../../machine/memory/extent.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Views } from "../../machine/memory/views.ts";
import { recordBytes } from "../abi/context-layout.ts";
import { granule } from "../abi/extent-table.ts";

/** Where a table of extents lies, and how many entries it has; and the same for the map of granules. */
export interface ExtentTable {
  /** A byte of memory. */
  readonly at: number;
  readonly count: number;
  readonly granules: { readonly at: number; readonly count: number };
}

/**
 * Writes an entry. `start`: its address, if that is not the extent's; `delta`: what makes an address a byte of memory.
 */
export function writeEntry({ i32 }: Views, at: number, { start, end }: Extent, delta: number, address = start): void {
  const word = at >>> 2;
  i32[word] = address;
  i32[word + 1] = Math.floor(address / 2 ** 32);
  i32[word + 2] = end - start;
  i32[word + 3] = delta;
}

const bytesOfGranule = 1 << granule.bits;

/** The tables of a device's allocations that compiled code searches: one for each set of allocations in use. */
export class AllocationTables {
  readonly #memory: DeviceMemory;
  readonly #addresses: AddressSpace;
  #current: { readonly table: ExtentTable; readonly version: number; readonly room: number } | null = null;
  /** Bytes of memory for the map of granules. */
  #map = { at: 0, room: 0 };
  /** Launches that may search the present table. */
  #users = 0;

  constructor(memory: DeviceMemory, addresses: AddressSpace) {
    this.#memory = memory;
    this.#addresses = addresses;
  }

  /**
   * The table of the present allocations, which stays as it is until it is given back. `withGranules`: with the map of
   * granules, which has nothing in it where other launches still use an earlier one.
   */
  take(withGranules: boolean): ExtentTable {
    const isPresent = this.#current?.version === this.#memory.allocationsVersion;
    if (!isPresent || (withGranules && this.#current!.table.granules.count === 0 && this.#users === 0)) {
      this.#write(withGranules);
    }
    this.#users++;
    return this.#current!.table;
  }

  giveBack(table: ExtentTable): void {
    if (table === this.#current?.table) this.#users--;
  }

  #write(withGranules: boolean): void {
    const used = this.#memory.allocations.filter(({ freed }) => !freed);
    let at = this.#current?.table.at ?? 0;
    let room = this.#current?.room ?? 0;
    if (used.length > room || this.#users > 0) {
      room = Math.max(64, 2 * used.length);
      at = this.#memory.reserve(room * recordBytes);
    }
    const { views } = this.#memory;
    const { globalLow, globalHigh } = this.#addresses;
    used.forEach((extent, i) => {
      writeEntry(views, at + i * recordBytes, extent, -globalLow, globalHigh * 2 ** 32 + globalLow + extent.start);
    });
    const granules = withGranules && this.#users === 0 ? this.#writeGranules(used) : { at: 0, count: 0 };
    const table = { at, count: used.length, granules };
    this.#current = { table, version: this.#memory.allocationsVersion, room };
    this.#users = 0;
  }

  #writeGranules(used: readonly Extent[]): ExtentTable["granules"] {
    const count = Math.ceil((used.at(-1)?.end ?? 0) / bytesOfGranule);
    if (count > this.#map.room) {
      const room = 2 * count;
      this.#map = { at: this.#memory.reserve(room), room };
    }
    const { at } = this.#map;
    const { u8 } = this.#memory.views;
    u8.fill(0, at, at + count);
    for (const { start, end } of used) {
      const first = at + start / bytesOfGranule;
      const whole = Math.floor((end - start) / bytesOfGranule);
      u8.fill(granule.words, first, first + whole);
      const rest = Math.floor(((end - start) % bytesOfGranule) / 4);
      if (rest > 0) u8[first + whole] = rest;
    }
    return { at, count };
  }
}
