import { readFileSync } from "node:fs";
import type { HostPages } from "../machine/memory/host-pages.ts";
import { addonFile, loadAddon, type NativeAddon } from "./exec/native.ts";

/** The size of a large page on x86-64, the only processor for which there is an add-on. */
const largeBytes = 2 ** 21;

let loaded: NativeAddon | null | undefined;

/** The add-on is loaded when a device is large enough: that takes a millisecond. */
function addon(): NativeAddon | null {
  if (loaded !== undefined) return loaded;
  loaded = null;
  try {
    loaded = loadAddon();
  } catch {
    // Node was told to load no add-ons, or this one is of another machine.
  }
  return loaded;
}

/**
 * The least size of free memory, as a power of two of pages, that a virtual machine's system gives back to its host;
 * read as -1 where it gives back none.
 */
const leastReported = "/sys/module/page_reporting/parameters/page_reporting_order";

/** A large page has 2 to this power of small ones. */
const largeOrder = 9;

/**
 * Whether free memory of the size of a large page goes back to the host of a virtual machine, as the text in
 * `leastReported` says: to be given such a page then takes longer than to be given 512 small ones.
 */
export function givesBackLarge(order: string): boolean {
  const least = Number.parseInt(order, 10);
  return least >= 0 && least <= largeOrder;
}

function largeAreDear(): boolean {
  try {
    return givesBackLarge(readFileSync(leastReported, "utf8"));
  } catch {
    // No virtual machine, or an older system.
    return false;
  }
}

/**
 * Large pages, if the system leaves them to programs (`madvise` in /sys/kernel/mm/transparent_hugepage/enabled, as most
 * do): memory that nothing has written before then takes a third of the time when it is first written, and accesses all
 * over it take less. Null where the system chooses: without an add-on, and where large pages take longer.
 */
export function hostPages(): HostPages | null {
  if (chosen === undefined) chosen = addonFile() === null || largeAreDear() ? null : largePages;
  return chosen;
}

/** The same in all of the process; undefined before somebody asks. */
let chosen: HostPages | null | undefined;

/** Asks for large pages by the add-on. */
export const largePages: HostPages = {
  largeBytes,
  // Where the system refuses, nothing has changed.
  enlarge: (memory) => void addon()?.largePages(new Uint8Array(memory.buffer)),
};
