import type { Restore } from "./checkpoint.ts";

/** Something that has changed the memory, and can do it again. */
export interface Change {
  readonly repeat: () => void;
}

/** A copy of the memory, and what has changed it since then. */
export interface Past {
  readonly start: Restore;
  readonly changes: Change[];
  /** Milliseconds that the changes have taken, roughly, and bytes that are kept for them. */
  ms: number;
  bytes: number;
}

/**
 * What a history holds, at most: then a new copy is made, which takes a small part of the time that passes between two
 * of them.
 */
const most = { changes: 1024, ms: 50, bytes: 2 ** 16 };

/**
 * How a device's memory has become what it is: a copy, and the changes since then, each of which can be repeated.
 * Launches that may have to be undone would else take a copy each. Whatever changes memory either says how to repeat it
 * or makes the history forget all.
 */
export class MemoryHistory {
  /** Whether nothing changes the memory of which the device knows nothing: no other process sees it. */
  readonly isComplete: boolean;
  #past: Past | null = null;

  constructor(isComplete: boolean) {
    this.isComplete = isComplete;
  }

  /** Something has changed the memory that cannot be repeated. */
  forget(): void {
    this.#past = null;
  }

  /**
   * Returns what restores the memory as it is now, once. `copy` saves all of it, and is called if the history does not
   * reach back to another copy; `keeps`: whether the copy may be kept until later.
   */
  checkpoint(copy: () => Restore, keeps: boolean): Restore {
    if (this.#past === null || isLong(this.#past)) {
      const start = copy();
      this.#past = this.isComplete && keeps ? { start, changes: [], ms: 0, bytes: 0 } : null;
      return start;
    }
    const { start, changes } = this.#past;
    const known = changes.length;
    return () => {
      start();
      for (const change of changes.slice(0, known)) change.repeat();
      this.forget();
    };
  }

  /**
   * Something is about to change the memory: all is forgotten, unless `changed` is told how to repeat it. Returns what
   * is known; null where nothing is, and nobody asks how changes are repeated.
   */
  leave(): Past | null {
    const past = this.#past;
    this.#past = null;
    return past;
  }

  /** The memory has changed as `change` would change it again, in so many milliseconds; until then `past` held. */
  changed(past: Past, change: Change, ms: number): void {
    past.changes.push(change);
    past.ms += ms;
    this.#past = past;
  }

  /** Bytes are written, by `write`. */
  write(bytes: Uint8Array, write: (bytes: Uint8Array) => void): void {
    const past = this.leave();
    if (past === null || past.bytes + bytes.length > most.bytes) {
      write(bytes);
      return;
    }
    past.bytes += bytes.length;
    const copy = bytes.slice();
    write(bytes);
    this.changed(past, { repeat: () => write(copy) }, 0);
  }
}

const isLong = ({ changes, ms }: Past): boolean => changes.length >= most.changes || ms > most.ms;
