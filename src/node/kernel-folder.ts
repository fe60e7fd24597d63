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

/** What a file begins with: whose it is, and of which form. */
const magic = "lanewise kernel 1\n";

const suffix = ".kernel";

/** What a process that was stopped while it wrote has left is removed after so many milliseconds. */
const abandoned = 3_600_000;

/** After how many bytes written the folder is looked through: for a part of what it may hold, so that it is never much larger. */
const lookThrough = 1 / 8;

const utf8 = new TextEncoder();

/** FNV-1a: against damage, not against forgery; who can write here can write anything of the user's. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x0100_0193);
  return hash >>> 0;
}

/**
 * Compiled kernels as files of a folder, which processes may share. Files are written under another name and then renamed, so
 * that nobody sees half of one; whatever is not as it was written is removed. Those that were used longest ago go when there are more
 * than `mostBytes`. Where the folder cannot be written, nothing is kept.
 */
export class KernelFolder implements KernelStore {
  readonly path: string;
  readonly #build: string;
  readonly #mostBytes: number;
  /** Bytes that have been written since the folder was looked through; at first it may be full. */
  #unseen: number;
  #written = 0;

  /** `build`: what tells this build of Lanewise from others, whose kernels are not to be used. */
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
      // Reading a pipe would wait for somebody to write.
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
    if (this.#unseen > this.#mostBytes * lookThrough) this.#evict();
  }

  remove(key: string): void {
    this.#removeFile(this.#fileOf(key));
  }

  #fileOf(key: string): string {
    return join(this.path, sha256(this.#headOf(key)) + suffix);
  }

  /** What stands before the checksum of an entry. */
  #headOf(key: string): Uint8Array {
    return utf8.encode(`${magic}${this.#build}\n${key}\n`);
  }

  /** What a file holds for a key, or null when it is not what `write` has left. */
  #contents(key: string, bytes: Uint8Array): Uint8Array | null {
    const head = this.#headOf(key);
    const at = head.length + 4;
    if (bytes.length < at || !head.every((byte, i) => bytes[i] === byte)) return null;
    // What Node reads is a `Buffer`, which is not in all an array of bytes.
    const entry = new Uint8Array(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
    const sum = new DataView(bytes.buffer, bytes.byteOffset + head.length, 4).getUint32(0, true);
    return sum === checksum(entry) ? entry : null;
  }

  /** Removes the files that were used longest ago, until what is left fits. */
  #evict(): void {
    this.#unseen = 0;
    const files = this.#files().sort((a, b) => b.used - a.used);
    let sum = 0;
    for (const { file, size } of files) {
      sum += size;
      if (sum > this.#mostBytes) this.#removeFile(file);
    }
  }

  /** The folder's files, without those of others; what was left half written is removed. */
  #files(): { readonly file: string; readonly size: number; readonly used: number }[] {
    return tryTo(() => readdirSync(this.path), []).flatMap((name) => {
      const file = join(this.path, name);
      const status = tryTo(() => statSync(file), null);
      if (status === null || !status.isFile()) return [];
      if (name.endsWith(suffix)) return [{ file, size: status.size, used: status.mtimeMs }];
      if (name.endsWith(".tmp") && Date.now() - status.mtimeMs > abandoned) this.#removeFile(file);
      return [];
    });
  }

  #removeFile(file: string): void {
    tryTo(() => rmSync(file, { force: true }), undefined);
  }
}

/** Others may remove files meanwhile, or not let us do anything to them. */
function tryTo<T>(action: () => T, otherwise: T): T {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

/** With the folders above it, where that can be. Node's `recursive` never ends where no folders can be made, as in `/proc`. */
function makeFolder(path: string): void {
  const above = dirname(path);
  if (above === path || existsSync(path)) return;
  makeFolder(above);
  tryTo(() => mkdirSync(path), undefined);
}

/** A file has been used now. */
function touch(file: string): void {
  const now = new Date();
  tryTo(() => utimesSync(file, now, now), undefined);
}
