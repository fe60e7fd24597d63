import type { Observer } from "../machine/events.ts";

/**
 * Accesses outside every variable and allocation, misaligned ones and those of the wrong space are faults with or without
 * a sanitizer. This one keeps freed memory unused, so that a late access is recognised.
 */
export const memorySanitizer: Observer = {
  launchBegin: (grid) => {
    grid.memory.quarantine = true;
  },
};
