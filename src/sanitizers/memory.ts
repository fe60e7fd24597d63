import type { Observer } from "../machine/events.ts";

/**
 * Keeps freed memory unused, so that a later access to it is recognised. Accesses outside every variable and
 * allocation, misaligned ones and those of the wrong space are faults even without a sanitizer.
 */
export const memorySanitizer: Observer = {
  launchBegin: (grid) => {
    grid.memory.quarantine = true;
  },
};
