import { chunkBytes } from "../../../ir/index.ts";
import type { Site } from "../../../machine/state/code.ts";

/** Bytes of a block's shared memory that products in flight read. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** Which chunks of a block's shared memory products in flight read. Many products read the same ones. */
export class Sources {
  readonly #readers: Uint16Array;
  /** The last product that reads a chunk. */
  readonly #sites: (Site | undefined)[] = [];
  #inFlight = 0;

  constructor(bytes: number) {
    this.#readers = new Uint16Array(Math.ceil(bytes / chunkBytes));
  }

  add({ start, end }: SourceRange, site: Site): void {
    this.#inFlight++;
    for (let at = Math.floor(start / chunkBytes); at * chunkBytes < end; at++) {
      this.#readers[at]!++;
      this.#sites[at] = site;
    }
  }

  remove({ start, end }: SourceRange): void {
    this.#inFlight--;
    for (let at = Math.floor(start / chunkBytes); at * chunkBytes < end; at++) this.#readers[at]!--;
  }

  /** Whether no product is in flight. */
  get areNone(): boolean {
    return this.#inFlight === 0;
  }

  /** A product in flight that reads some of these bytes. */
  reader({ start, end }: SourceRange): Site | null {
    for (let at = Math.floor(start / chunkBytes); at * chunkBytes < end; at++)
      if (this.#readers[at]! > 0) return this.#sites[at]!;
    return null;
  }
}
