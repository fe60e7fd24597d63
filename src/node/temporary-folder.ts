import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../runtime/data/errors.ts";

/**
 * Makes a new folder for temporary files, to which only the user can write. `prefix`: what its name begins with.
 *
 * @throws UsageError if there can be none where temporary files belong
 */
export function temporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new UsageError(`no folder for temporary files can be made in ${tmpdir()} (${why}): set TMPDIR to another`);
  }
}
