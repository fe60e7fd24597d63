import type { WasmMemory } from "../../wasm/host.ts";
import { fillBytes } from "./fill.ts";
import type { Views } from "./views.ts";

/** Other memory of the host, which lies under that of WebAssembly. */
export interface Underlay {
  /**
   * Puts it there from byte `from` to the end: called when the memory is made, and each time that it has grown, before
   * what is new is used.
   */
  put(memory: WasmMemory, from: number): void;
  /**
   * Gives bytes back to the system, whole pages of the host: they read as zeros from then on, and take no memory until
   * they are written. False where that cannot be done, and nothing has changed.
   */
  release(from: number, bytes: number): boolean;
}

/** A multiple of the host's pages. */
const pageBytes = 0x1_0000;

/** Fewer bytes are filled: where all of them are written again, the host takes longer for pages that it had back. */
const minReleased = 512 * 2 ** 20;

/** Fills bytes with zeros. Many are given back to the host: those that nobody writes afterwards then cost nothing. */
export function clearBytes(views: Views, from: number, to: number, underlay: Underlay | null): void {
  const first = Math.ceil(from / pageBytes) * pageBytes;
  const end = Math.floor(to / pageBytes) * pageBytes;
  if (end - first >= minReleased && underlay?.release(first, end - first) === true) {
    fillBytes(views, from, first);
    fillBytes(views, end, to);
  } else fillBytes(views, from, to);
}
