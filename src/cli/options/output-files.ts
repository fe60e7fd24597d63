import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { FileError, openPipe, stdin } from "../terminal/files.ts";
import type { Options, OptionSpec } from "./options.ts";

/** A file that a command line names. */
interface NamedFile {
  readonly path: string;
  /** The words of the user: "--sarif out.json". */
  readonly words: string;
  readonly orFolder: boolean;
}

function filesOf(options: Options, specs: readonly OptionSpec[], use: OptionSpec["file"]): readonly NamedFile[] {
  return specs
    .filter(({ file }) => file === use)
    .flatMap(({ name, fileIn = /^(.+)$/s, alsoWritten, orFolder = false }) =>
      options.all(name).flatMap((value) => {
        const path = fileIn.exec(value)?.[1];
        if (path === undefined) return [];
        const words = `--${name} ${value}`;
        const other = alsoWritten?.(path) ?? path;
        const others = other === path ? [] : [{ path: other, words: `${words}, with ${other}`, orFolder: false }];
        return [{ path, words, orFolder }, ...others];
      }),
    );
}

/** The status of a file, or undefined. Other errors show up when the file is opened. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** A key that is equal for two names of the same file; null for anything but a regular file, such as /dev/null. */
function identity(path: string): string | null {
  const status = look(path);
  if (status !== undefined) return status.isFile() ? `${status.dev}:${status.ino}` : null;
  const folder = dirname(resolve(path));
  return join(look(folder) === undefined ? folder : realpathSync(folder), basename(path));
}

/**
 * Checks before anything runs that the named output files can be written, so that no result gets lost, and that none of
 * them is also an input.
 *
 * @throws FileError if one cannot be written, or would overwrite another file of the command line
 */
export function checkOutputs(options: Options, specs: readonly OptionSpec[]): void {
  const taken = new Map<string, string>();
  const written = filesOf(options, specs, "written");
  if (written.length === 0) return;
  const read = filesOf(options, specs, "read").map(({ path }) => path);
  for (const path of [...options.positionals, ...read]) {
    const own = path === stdin ? null : identity(path);
    if (own !== null) taken.set(own, `${path} is read, and would be overwritten`);
  }
  for (const { path, words, orFolder } of written) {
    const problem = (why: string): never => {
      throw new FileError(`${words}: ${why}`);
    };
    if (path === stdin) problem("nothing is written to stdout; give the name of a file");
    if (!orFolder && look(path)?.isDirectory()) problem("it is a directory");
    // The pipe stays open: its reader would take a close for the end.
    if (look(path)?.isFIFO() && openPipe(path) === null) problem("it is a pipe that nobody reads");
    if (!look(dirname(path))?.isDirectory()) problem(`there is no directory ${dirname(path)}`);
    const own = identity(path);
    if (own === null) continue;
    const other = taken.get(own);
    if (other !== undefined) problem(other);
    taken.set(own, `${words} is the same file`);
  }
}
