import { existsSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * Says why files in a folder may not be the user's own, or returns null: another user owns the folder or can write to
 * it, or can put another one in its place. Null too if there is no folder, and on Windows, where user folders are
 * private.
 */
export function whyUnsafe(folder: string): string | null {
  if (process.getuid === undefined) return null;
  const user = process.getuid();
  const own = status(folder);
  if (own === null) return null;
  if (own.uid !== user) return `${folder} belongs to another user`;
  if ((own.mode & writableByOthers) !== 0) return `others can write to ${folder}`;
  const parent = dirname(folder);
  const above = status(parent);
  if (above === null) return null;
  if (above.uid !== user && above.uid !== 0) return `${parent} belongs to another user`;
  // In a sticky folder, as /tmp is, only the owner of a file may move it.
  return (above.mode & writableByOthers) !== 0 && (above.mode & sticky) === 0 ? `others can write to ${parent}` : null;
}

function status(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/**
 * Creates a folder, and its parents, if possible, to which only the user can write. Node's `recursive` option loops
 * forever where no folder can be created, as in `/proc`.
 */
export function makePrivateFolder(path: string): void {
  const above = dirname(path);
  if (above === path || existsSync(path)) return;
  makePrivateFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch {
    // Another process has created it, or there will be none.
  }
}
