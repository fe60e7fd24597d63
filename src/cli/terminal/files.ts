import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../../runtime/data/errors.ts";
import { textOf } from "../../runtime/data/source-file.ts";
import { decodeText, SourceText } from "../../source/index.ts";

/** A file cannot be read or written. The exit status is 2. */
export class FileError extends UsageError {
  override readonly name = "FileError";
}

/** A source does not compile; its compiler has said why. The exit status is 1. */
export class CompilationError extends UsageError {
  override readonly name = "CompilationError";
}

const maxBytes = 0x8000_0000;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EFBIG: "the file would be larger than is allowed",
  EDQUOT: "the disk quota is used up",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is not a directory",
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

/** The first bytes of a regular file, by which its kind is known; none of stdin, and of what cannot be read. */
export function beginningOf(path: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  if (path === stdin || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return bytes.subarray(0, 0);
  const file = attempt("read", path, () => openSync(path, "r"));
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, size, 0));
  } finally {
    closeSync(file);
  }
}

export const isFolder = (path: string): boolean =>
  path !== stdin && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The files in a folder, without those in folders within it, in the order of their names. */
export const filesIn = (folder: string): readonly string[] =>
  attempt("read", folder, () => readdirSync(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

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

/**
 * Writes a file. A regular file is replaced as a whole, so that a full disk leaves the old one or none, never a part of
 * the new one. Devices and pipes are written directly.
 */
export const writeBytes = (path: string, data: Uint8Array | string): void =>
  attempt("write", path, () => {
    // If the file is new, the only thing that can be missing is its directory.
    if (statSync(dirname(path), { throwIfNoEntry: false }) === undefined) {
      throw new FileError(`cannot write ${path}: there is no directory ${dirname(path)}`);
    }
    const status = statSync(path, { throwIfNoEntry: false });
    if (status?.isFIFO()) writePipe(path, data);
    // The names of open files, such as /dev/stdout, must keep meaning the same file.
    else if ((status !== undefined && !status.isFile()) || /^\/(dev|proc)\//.test(path)) writeFileSync(path, data);
    else replaceFile(status === undefined ? path : realpathSync(path), data, status?.mode);
  });

function replaceFile(path: string, data: Uint8Array | string, mode: number | undefined): void {
  const beside = join(dirname(path), `.${basename(path).slice(0, 200)}.${process.pid}.part`);
  let file: number;
  try {
    file = openSync(beside, "wx", mode);
  } catch {
    // The file may be writable where its folder is not.
    writeFileSync(path, data);
    return;
  }
  try {
    writeFileSync(file, data);
    closeSync(file);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Opens a pipe without waiting for a reader; null if there is none. */
export function openPipe(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENXIO") return null;
    throw error;
  }
}

function writePipe(path: string, data: Uint8Array | string): void {
  const waiting = openPipe(path);
  if (waiting === null) throw new FileError(`cannot write ${path}: it is a pipe that nobody reads`);
  try {
    // With a reader there, opening it again does not block, and writing waits until the reader has room.
    writeFileSync(path, data);
  } finally {
    closeSync(waiting);
  }
}
