import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { KernelStore } from "../jit/abi/kernel-store.ts";
import type { HostPages } from "../machine/memory/host-pages.ts";
import { makePrivateFolder, whyUnsafe } from "./folder-safety.ts";

/** The beginning of a file: the owner and the version of the format. */
const magic = "lanewise kernel 3\n";
const suffix = ".kernel";

/** After so many milliseconds, an unfinished file of a process that was killed is removed. */
const staleAfterMs = 3_600_000;

/**
 * The folder is searched for files to evict after this share of its size has been written, so that it never grows much
 * larger.
 */
const searchAfterShare = 1 / 8;

const utf8 = new TextEncoder();

/**
 * It detects damage. Forgery is kept out by the folder, to which only the user can write. A process that runs a kept
 * kernel takes longer to load Node's `crypto` than for all else that it does here.
 */
const checksum = (bytes: Uint8Array): Uint8Array => new Uint8Array(Uint32Array.of(crc32(bytes)).buffer);

const checksumBytes = 4;

/**
 * The name of a file that begins with these bytes, 64 bits as FNV-1a mixes them in two halves. Where two begin with
 * different bytes under one name, the last one is kept: a file is read only if it begins as is asked.
 */
function nameOf(head: Uint8Array): string {
  const halves = [0x811c9dc5, 0x9e3779b9].map((offset) => {
    let half = offset;
    for (const byte of head) half = Math.imul(half ^ byte, 0x01000193);
    return (half >>> 0).toString(16).padStart(8, "0");
  });
  return halves.join("");
}

/**
 * Keeps compiled kernels as files in a folder that processes may share. A file is written under another name and then
 * renamed, so that no process sees a partial one; a damaged file is removed. When the files exceed `mostBytes` bytes,
 * the least recently used ones are removed. If the folder cannot be written, nothing is kept; if others can write to
 * it, nothing is read either.
 */
export class KernelFolder implements KernelStore {
  readonly path: string;
  readonly hostPages: HostPages | null;
  readonly #build: string;
  readonly #mostBytes: number;
  /** Bytes written since the folder was last searched for files to evict. Initially the folder may be full. */
  #unseen: number;
  #written = 0;
  readonly #onRefused: (why: string) => void;
  /** Whether the folder is the user's own; null as long as there is none. */
  #isOwn: boolean | null = null;

  /**
   * `build` identifies this build of Lanewise; kernels of other builds are not used. `onRefused` is called once if the
   * folder is not used, with the reason.
   */
  constructor(
    path: string,
    build: string,
    mostBytes: number,
    onRefused: (why: string) => void = () => {},
    hostPages: HostPages | null = null,
  ) {
    this.path = path;
    this.hostPages = hostPages;
    this.#build = build;
    this.#mostBytes = mostBytes;
    this.#unseen = mostBytes;
    this.#onRefused = onRefused;
  }

  /** Whether only the user can write to the folder, if there is one. */
  get #isUsable(): boolean {
    if (this.#isOwn !== null) return this.#isOwn;
    if (!existsSync(this.path)) return true;
    const why = whyUnsafe(this.path);
    this.#isOwn = why === null;
    if (why !== null) this.#onRefused(why);
    return this.#isOwn;
  }

  read(key: string): Uint8Array | null {
    if (!this.#isUsable) return null;
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
    const size = head.length + checksumBytes + entry.length;
    if (size > this.#mostBytes) return;
    const bytes = new Uint8Array(size);
    bytes.set(head);
    bytes.set(checksum(entry), head.length);
    bytes.set(entry, head.length + checksumBytes);
    const temporary = join(this.path, `${process.pid}-${this.#written++}-${Date.now().toString(36)}.tmp`);
    try {
      makePrivateFolder(this.path);
      if (!this.#isUsable) return;
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
    if (!this.#isUsable) return;
    this.#removeFile(this.#fileOf(key));
  }

  #fileOf(key: string): string {
    return join(this.path, nameOf(this.#headOf(key)) + suffix);
  }

  /** The part of a file before the checksum. */
  #headOf(key: string): Uint8Array {
    return utf8.encode(`${magic}${this.#build}\n${key}\n`);
  }

  /** Returns the entry of a key in a file, or null if the file is not as `write` left it. */
  #contents(key: string, bytes: Uint8Array): Uint8Array | null {
    const head = this.#headOf(key);
    const at = head.length + checksumBytes;
    if (bytes.length < at || !head.every((byte, i) => bytes[i] === byte)) return null;
    // Node returns a `Buffer`, which differs from a plain byte array in some ways.
    const entry = new Uint8Array(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
    const sum = checksum(entry);
    return sum.every((byte, i) => bytes[head.length + i] === byte) ? entry : null;
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

/** Marks a file as used now. */
function touch(file: string): void {
  const now = new Date();
  tryTo(() => utimesSync(file, now, now), undefined);
}
