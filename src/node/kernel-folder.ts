import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { KernelStore } from "../jit/abi/kernel-store.ts";
import { sha256 } from "../runtime/data/sha256.ts";

/** The beginning of a file: the owner and the version of the format. */
const magic = "lanewise kernel 1\n";
const suffix = ".kernel";

/** After so many milliseconds, an unfinished file of a process that was killed is removed. */
const staleAfterMs = 3_600_000;

/**
 * The folder is searched for files to evict after this share of its size has been written, so that it never grows much
 * larger.
 */
const searchAfterShare = 1 / 8;

const utf8 = new TextEncoder();

/** FNV-1a. It detects damage, not forgery: anyone who can write here can write anything that belongs to the user. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x0100_0193);
  return hash >>> 0;
}

/**
 * Keeps compiled kernels as files in a folder that processes may share. A file is written under another name and then
 * renamed, so that no process sees a partial one; a damaged file is removed. When the files exceed `mostBytes` bytes,
 * the least recently used ones are removed. If the folder cannot be written, nothing is kept.
 */
export class KernelFolder implements KernelStore {
  readonly path: string;
  readonly #build: string;
  readonly #mostBytes: number;
  /** Bytes written since the folder was last searched for files to evict. Initially the folder may be full. */
  #unseen: number;
  #written = 0;

  /** `build` identifies this build of Lanewise; kernels of other builds are not used. */
  constructor(path: string, build: string, mostBytes: number) {
    this.path = path;
    this.#build = build;
    this.#mostBytes = mostBytes;
    this.#unseen = mostBytes;
  }

  read(key: string): Uint8Array | null {
    const file = this.#fileOf(key);
    let bytes: Uint8Array;
    try {
      // Reading a pipe would block.
      if (!statSync(file).isFile()) return null;
      bytes = readFileSync(file);
    } catch {
      return null;
    }
    const entry = this.#contents(key, bytes);
    if (entry === null) this.#removeFile(file);
    else touch(file);
    return entry;
  }

  write(key: string, entry: Uint8Array): void {
    const head = this.#headOf(key);
    const size = head.length + 4 + entry.length;
    if (size > this.#mostBytes) return;
    const bytes = new Uint8Array(size);
    bytes.set(head);
    new DataView(bytes.buffer).setUint32(head.length, checksum(entry), true);
    bytes.set(entry, head.length + 4);
    const temporary = join(this.path, `${process.pid}-${this.#written++}-${Date.now().toString(36)}.tmp`);
    try {
      makeFolder(this.path);
      writeFileSync(temporary, bytes, { mode: 0o600 });
      renameSync(temporary, this.#fileOf(key));
    } catch {
      this.#removeFile(temporary);
      return;
    }
    this.#unseen += size;
    if (this.#unseen > this.#mostBytes * searchAfterShare) this.#evict();
  }

  remove(key: string): void {
    this.#removeFile(this.#fileOf(key));
  }

  #fileOf(key: string): string {
    return join(this.path, sha256(this.#headOf(key)) + suffix);
  }

  /** The part of a file before the checksum. */
  #headOf(key: string): Uint8Array {
    return utf8.encode(`${magic}${this.#build}\n${key}\n`);
  }

  /** Returns the entry of a key in a file, or null if the file is not as `write` left it. */
  #contents(key: string, bytes: Uint8Array): Uint8Array | null {
    const head = this.#headOf(key);
    const at = head.length + 4;
    if (bytes.length < at || !head.every((byte, i) => bytes[i] === byte)) return null;
    // Node returns a `Buffer`, which differs from a plain byte array in some ways.
    const entry = new Uint8Array(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
    const sum = new DataView(bytes.buffer, bytes.byteOffset + head.length, 4).getUint32(0, true);
    return sum === checksum(entry) ? entry : null;
  }

  /** Removes the least recently used files until the rest fits. */
  #evict(): void {
    this.#unseen = 0;
    const files = this.#files().sort((a, b) => b.used - a.used);
    let sum = 0;
    for (const { file, size } of files) {
      sum += size;
      if (sum > this.#mostBytes) this.#removeFile(file);
    }
  }

  /** Lists the kernels in the folder, ignoring other files, and removes unfinished ones. */
  #files(): { readonly file: string; readonly size: number; readonly used: number }[] {
    return tryTo(() => readdirSync(this.path), []).flatMap((name) => {
      const file = join(this.path, name);
      const status = tryTo(() => statSync(file), null);
      if (status === null || !status.isFile()) return [];
      if (name.endsWith(suffix)) return [{ file, size: status.size, used: status.mtimeMs }];
      if (name.endsWith(".tmp") && Date.now() - status.mtimeMs > staleAfterMs) this.#removeFile(file);
      return [];
    });
  }

  #removeFile(file: string): void {
    tryTo(() => rmSync(file, { force: true }), undefined);
  }
}

/** Other processes may remove files at any time, and permissions may be missing. */
function tryTo<T>(action: () => T, otherwise: T): T {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

/**
 * Creates a folder and its parents if possible. Node's `recursive` option loops forever where no folder can be created,
 * as in `/proc`.
 */
function makeFolder(path: string): void {
  const above = dirname(path);
  if (above === path || existsSync(path)) return;
  makeFolder(above);
  tryTo(() => mkdirSync(path), undefined);
}

/** Marks a file as used now. */
function touch(file: string): void {
  const now = new Date();
  tryTo(() => utimesSync(file, now, now), undefined);
}
