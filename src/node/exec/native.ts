import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** What native/addon/addon.c does. What fails returns a negative number, -errno. */
export interface NativeAddon {
  listen(path: string): number;
  accept(fd: number): number;
  peer(fd: number): number;
  /** Bytes that have come; 0 if the other end has closed. */
  receive(fd: number, into: Uint8Array): number;
  sendDescriptors(fd: number, first: number, second: number): number;
  /** A descriptor of new memory of so many bytes. */
  memory(bytes: number): number;
  map(fd: number, bytes: number): ArrayBuffer | undefined;
  /** Puts the memory of a descriptor under bytes `from` to `to`. */
  mapOver(bytes: Uint8Array, from: number, to: number, fd: number): number;
  /** Lets the system keep memory in pages of two megabytes. */
  largePages(bytes: Uint8Array): number;
  /** Gives pages of such memory back to the system: they read as zeros. */
  release(fd: number, from: number, bytes: number): number;
  poll(fds: Int32Array, ready: Int32Array, milliseconds: number): number;
  /** Lets other threads that wait for this processor go first. */
  yield(): void;
  /** Wakes who waits for a word. */
  wake(words: Int32Array, index: number): void;
  /** Copies from the memory of a process into bytes `from` to `from + length`. Returns how many. */
  read(pid: number, address: bigint, into: Uint8Array, from: number, length: number): number;
  write(pid: number, address: bigint, bytes: Uint8Array, from: number, length: number): number;
  close(fd: number): void;
  processDescriptor(pid: number): number;
  /** A descriptor that is ready when Node's own loop has something to do; negative where there is none. */
  loopDescriptor(): number;
  /**
   * Passes signals on to a program, whatever this thread does, and ends this process soon after one has ended that.
   * `path`: the socket, which goes with it.
   */
  guard(pid: number, path: string): number;
  /**
   * Adds an entry to the document that `--json` gives if a signal ends the process. `list`: 0 for `launches`, 1 for
   * `reports`, 2 for `misuses`; -1, before all others, asks for such a document. `entry`: as JSON.
   */
  note(list: number, entry: string): number;
  /** The program has ended: signals are for this process again. */
  unguard(): void;
  /** Ends the process at once, without its threads. */
  end(status: number): never;
}

/** The native part of `lanewise exec`. */
export interface Native {
  readonly addon: NativeAddon;
  /** The folder of the libraries. */
  readonly folder: string;
  /** The names of all entry points, by number. */
  readonly names: readonly string[];
}

/** The folder of the native part; a text that says why there is none. */
function nativeFolder(): { readonly folder: string } | string {
  if (process.platform !== "linux" || process.arch !== "x64") return "it needs Linux on x86-64";
  // Beside the bundle, or in dist/ when it runs from sources.
  const folder = ["../native/", "../../../dist/native/", "./native/"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(`${path}lanewise.node`));
  return folder === undefined ? "its libraries were not built, since there was no C compiler (cc)" : { folder };
}

/** The file of the add-on; null if it is not there. */
export function addonFile(): string | null {
  const found = nativeFolder();
  return typeof found === "string" ? null : `${found.folder}lanewise.node`;
}

/** Loads the add-on alone; null if it is not there. */
export function loadAddon(): NativeAddon | null {
  const found = nativeFolder();
  return typeof found === "string" ? null : addonIn(found.folder);
}

const addonIn = (folder: string): NativeAddon =>
  createRequire(import.meta.url)(`${folder}lanewise.node`) as NativeAddon;

/** Loads the native part; a text if it is not there: why. */
export function loadNative(): Native | string {
  const found = nativeFolder();
  if (typeof found === "string") return found;
  const { folder } = found;
  return { addon: addonIn(folder), folder, names: readFileSync(`${folder}names.txt`, "utf8").trim().split("\n") };
}
