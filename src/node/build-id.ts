import { readFileSync } from "node:fs";

/**
 * Returns the identity of this build: a hash of its sources, which the build stores in `dist/`. Null if nothing has
 * been built: then the format of compiled kernels may change at any time.
 */
export function buildId(): string | null {
  try {
    return readFileSync(new URL("../build-id", import.meta.url), "utf8");
  } catch {
    return null;
  }
}
