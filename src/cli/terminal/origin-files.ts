import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { decodeText, type ReadOrigin, SourceText } from "../../source/index.ts";
import { FileError, readBytes } from "./files.ts";

/** The largest source that is read. */
const maxBytes = 1 << 26;

function read(path: string): SourceText | null {
  try {
    const bytes = readBytes(path);
    return bytes.length > maxBytes ? null : new SourceText(shown(path), decodeText(bytes));
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

/** Paths below the current folder are shown relative to it, as users write them. */
function shown(path: string): string {
  if (!isAbsolute(path)) return path;
  const near = relative(process.cwd(), path);
  return near !== "" && !near.startsWith("..") && !isAbsolute(near) ? near : path;
}

/** The places where a file may be that a program names: as named, near the program, here, and in `folders`. */
function placesOf(path: string, program: string, folders: readonly string[]): readonly string[] {
  const parts = path.split(/[\\/]/).filter((part) => part !== "");
  const tails = parts.map((_, i) => parts.slice(i).join("/")).slice(-4);
  const beside = dirname(program);
  return [
    ...folders.flatMap((folder) => tails.map((tail) => join(folder, tail))),
    path,
    ...(isAbsolute(path) ? [] : [join(beside, path)]),
    ...[beside, "."].map((folder) => join(folder, basename(parts.join("/")))),
  ];
}

/**
 * Returns a reader of the files that programs were compiled from. `folders` come first: the user has named them. The
 * next places are the path as the program names it, the folder of the program, and the current folder. Each file is
 * read once.
 */
export function originReader(folders: readonly string[]): ReadOrigin {
  const known = new Map<string, SourceText | null>();
  return (path, program) => {
    const key = `${path}\n${dirname(program)}`;
    let found = known.get(key);
    if (found === undefined) {
      found = null;
      for (const place of placesOf(path, program, folders)) if ((found = read(place)) !== null) break;
      known.set(key, found);
    }
    return found;
  };
}
