import type { Restore } from "./checkpoint.ts";

/** A copy of the memory, and what has changed it since then. */
interface Past {
  readonly start: Restore;
  readonly changes: (() => void)[];
  /** Milliseconds that the changes have taken, and bytes that are kept for them. */
  ms: number;
  bytes: number;
}

/**
 * What a history holds, at most: then a new copy is made, which takes a small part of the time that passes between two
 * of them.
 */
const most = { changes: 256, ms: 50, bytes: 2 ** 16 };

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

  /** Whether it asks how changes are repeated: there is a copy from which they begin. */
  get isKept(): boolean {
    return this.#past !== null;
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
      for (const repeat of changes.slice(0, known)) repeat();
      this.forget();
    };
  }

  /** Does something that changes the memory. `repeating`: what repeats it, which may depend on the result, or null. */
  change<T>(act: () => T, repeating: (result: T) => (() => void) | null): T {
    const past = this.#past;
    if (past === null) return act();
    this.#past = null;
    const begun = performance.now();
    const result = act();
    const repeat = repeating(result);
    if (repeat === null) return result;
    past.changes.push(repeat);
    past.ms += performance.now() - begun;
    this.#past = past;
    return result;
  }

  /** Bytes are written, by `write`. */
  write(bytes: Uint8Array, write: (bytes: Uint8Array) => void): void {
    if (this.#past === null || this.#past.bytes + bytes.length > most.bytes) {
      this.forget();
      write(bytes);
      return;
    }
    this.#past.bytes += bytes.length;
    const copy = bytes.slice();
    this.change(
      () => write(bytes),
      () => () => write(copy),
    );
  }
}

const isLong = ({ changes, ms }: Past): boolean => changes.length >= most.changes || ms > most.ms;
