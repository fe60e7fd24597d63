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
 * Large pages, if the system leaves them to programs (`madvise` in /sys/kernel/mm/transparent_hugepage/enabled, as most
 * do): memory that nothing has written before then takes a fifth of the time when it is first written, and accesses all
 * over it take less. Null where there is no add-on: the system then chooses.
 */
export const hostPages = (): HostPages | null => (addonFile() === null ? null : pages);

const pages: HostPages = {
  largeBytes,
  // Where the system refuses, nothing has changed.
  enlarge: (memory) => void addon()?.largePages(new Uint8Array(memory.buffer)),
};
