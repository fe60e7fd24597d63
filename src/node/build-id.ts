import { readFileSync } from "node:fs";

/**
 * What tells this build from others: a hash of its sources, which the build leaves in `dist/`. Null where nothing has been built, so
 * that what compiled kernels look like may change at any time.
 */
export function buildId(): string | null {
  try {
    return readFileSync(new URL("../build-id", import.meta.url), "utf8");
  } catch {
    return null;
  }
}
