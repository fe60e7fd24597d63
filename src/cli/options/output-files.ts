import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { FileError, stdin } from "../terminal/files.ts";
import type { Options, OptionSpec } from "./options.ts";

/** A file that a command line names. */
interface NamedFile {
  readonly path: string;
  /** As the user has written it: "--sarif out.json". */
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

/** What lies there. What cannot be told is found out when the file is opened. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The same for two names of one file; null for what is no file on a disk, such as /dev/null. */
function identity(path: string): string | null {
  const status = look(path);
  if (status !== undefined) return status.isFile() ? `${status.dev}:${status.ino}` : null;
  const folder = dirname(resolve(path));
  return join(look(folder) === undefined ? folder : realpathSync(folder), basename(path));
}

/**
 * Looks before anything runs whether what a command line names can be written, so that no result is lost and no file
 * that is read.
 *
 * @throws FileError where it cannot
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
    if (!look(dirname(path))?.isDirectory()) problem(`there is no directory ${dirname(path)}`);
    const own = identity(path);
    if (own === null) continue;
    const other = taken.get(own);
    if (other !== undefined) problem(other);
    taken.set(own, `${words} is the same file`);
  }
}
