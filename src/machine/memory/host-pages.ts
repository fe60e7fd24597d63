import type { WasmMemory } from "../../wasm/host.ts";

/** What chooses the pages in which the host keeps the memory of devices. */
export interface HostPages {
  /** The size of a large page in bytes, a multiple of WebAssembly's pages. */
  readonly largeBytes: number;
  /** Asks for large pages wherever they fit in. Called when a memory is made, and each time that it has grown. */
  enlarge(memory: WasmMemory): void;
}

const pageBytes = 0x1_0000;

/** One page less than WebAssembly could have: views of all of it are not possible everywhere. */
const maxPages = 0xffff;

/** Memory is kept in large pages from so many of them on: of less, most does not fit into them. */
const minLarge = 2;

/** Makes a memory with room for so many bytes. */
export function makeMemory(bytes: number, shared: boolean, pages: HostPages | null): WasmMemory {
  const initial = pagesFor(bytes, pages);
  const memory = new WebAssembly.Memory({ initial, maximum: maxPages, shared });
  enlarge(memory, pages);
  return memory;
}

/**
 * Grows a memory for so many bytes, and at least by a quarter. Returns how many it had.
 *
 * @throws RangeError where the host gives no more
 */
export function growMemory(memory: WasmMemory, bytes: number, pages: HostPages | null): number {
  const from = memory.buffer.byteLength;
  const have = from / pageBytes;
  const wanted = Math.min(maxPages, Math.max(pagesFor(bytes, pages), have + Math.ceil(have / 4)));
  try {
    memory.grow(wanted - have);
  } catch {
    throw new RangeError(`out of memory: the host gives no ${bytes} bytes`);
  }
  enlarge(memory, pages);
  return from;
}

/** Where pages are large, so many that the last bytes lie in one: those after them cost nothing but addresses. */
function pagesFor(bytes: number, pages: HostPages | null): number {
  const more = isLarge(bytes, pages) ? pages.largeBytes : 0;
  return Math.min(maxPages, Math.ceil((bytes + more) / pageBytes));
}

function enlarge(memory: WasmMemory, pages: HostPages | null): void {
  if (isLarge(memory.buffer.byteLength, pages)) pages.enlarge(memory);
}

const isLarge = (bytes: number, pages: HostPages | null): pages is HostPages =>
  pages !== null && bytes >= minLarge * pages.largeBytes;
