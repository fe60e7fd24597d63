import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../runtime/data/errors.ts";
import { textOf } from "../../runtime/data/source-file.ts";
import { decodeText, SourceText } from "../../source/index.ts";

/** A file cannot be read or written. The exit status is 2. */
export class FileError extends UsageError {
  override readonly name = "FileError";
}

const maxBytes = 0x8000_0000;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is no directory",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its symbolic links go in circles",
};

function attempt<T>(verb: string, path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof FileError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new FileError(`cannot ${verb} ${path}: ${reasons[code] ?? message}`);
  }
}

/** The path that stands for stdin. */
export const stdin = "-";

/** The name of a file in messages. */
export const shownPath = (path: string): string => (path === stdin ? "<stdin>" : path);

/** The contents of stdin, once read: it can be read only once. */
let fromStdin: Uint8Array | null = null;

/** Reads a regular file or stdin. Others are refused, because a job may name a device that never ends. */
export const readBytes = (path: string): Uint8Array =>
  attempt("read", shownPath(path), () => {
    if (path === stdin) {
      fromStdin ??= readFileSync(0);
      return fromStdin;
    }
    const status = statSync(path);
    if (status.isDirectory()) throw new FileError(`cannot read ${path}: it is a directory`);
    if (!status.isFile()) throw new FileError(`cannot read ${path}: it is not a regular file (- stands for stdin)`);
    if (status.size >= maxBytes) throw new FileError(`cannot read ${path}: it is larger than 2 GiB`);
    const bytes = readFileSync(path);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  });

/** Reads a text other than assembly: a job, a script, rules. */
export const readText = (path: string): SourceText => new SourceText(shownPath(path), decodeText(readBytes(path)));

/**
 * Reads assembly.
 *
 * @throws UsageError also if the file is binary
 */
export const readSource = (path: string): SourceText => {
  const shown = shownPath(path);
  return new SourceText(shown, textOf({ path: shown, bytes: readBytes(path) }));
};

export const writeBytes = (path: string, data: Uint8Array | string): void =>
  attempt("write", path, () => {
    // If the file is new, the only thing that can be missing is its directory.
    if (statSync(dirname(path), { throwIfNoEntry: false }) === undefined) {
      throw new FileError(`cannot write ${path}: there is no directory ${dirname(path)}`);
    }
    writeFileSync(path, data);
  });
