import type { Restore } from "./checkpoint.ts";
import type { MemoryPages } from "./memory-pages.ts";

/** All of a device's memory at some time. */
export interface FrozenMemory {
  readonly pages: MemoryPages;
  readonly restore: Restore;
}
