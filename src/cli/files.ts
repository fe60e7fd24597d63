import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../runtime/errors.ts";
import { SourceText } from "../source/index.ts";

/** A file that cannot be read or written: exit status 2. */
export class FileError extends UsageError {
  override readonly name = "FileError";
}

const largest = 0x8000_0000;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is no directory",
  ENAMETOOLONG: "its name is too long",
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

/** Only regular files are read: a job may name a device that never ends. */
export const readBytes = (path: string): Uint8Array =>
  attempt("read", path, () => {
    const status = statSync(path);
    if (status.isDirectory()) throw new FileError(`cannot read ${path}: it is a directory`);
    if (!status.isFile()) throw new FileError(`cannot read ${path}: it is no regular file`);
    if (status.size >= largest) throw new FileError(`cannot read ${path}: it is larger than 2 GiB`);
    const bytes = readFileSync(path);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  });

/** Bytes that are no UTF-8 become U+FFFD, which the parser then complains about at their place. */
export const readSource = (path: string): SourceText => new SourceText(path, new TextDecoder().decode(readBytes(path)));

export const writeBytes = (path: string, data: Uint8Array | string): void =>
  attempt("write", path, () => {
    // Of a new file only its directory can be missing.
    if (statSync(dirname(path), { throwIfNoEntry: false }) === undefined) {
      throw new FileError(`cannot write ${path}: there is no directory ${dirname(path)}`);
    }
    writeFileSync(path, data);
  });
