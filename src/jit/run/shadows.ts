import { fillBytes } from "../../machine/memory/fill.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { numberBits } from "../compile/watch/records.ts";
import type { Plane } from "../compile/watch/shadow-plan.ts";

/** Bytes of all shadows together, at most. */
const maxBytes = 2 ** 31;

/** What a plane's words are: numbers of threads, or of intervals. A number is never taken for the other. */
const wordsOf = (plane: Plane): "threads" | "intervals" =>
  plane === "writer" || plane === "reader" ? "threads" : "intervals";

/**
 * The memory in which watched launches note accesses, in pieces that they take and give back. What a piece has from
 * earlier launches is told from what a launch notes by the numbers of threads, which grow from launch to launch.
 */
export class Shadows {
  readonly #memory: DeviceMemory;
  readonly #free = new Map<string, number[]>();
  readonly #taken = new Map<number, string>();
  readonly #pieces: { readonly at: number; readonly bytes: number }[] = [];
  #bytes = 0;
  #alarmAt: number | null = null;
  #next = 1;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** The byte of the word in which a launch says that there may be something to report. */
  get alarmAt(): number {
    return (this.#alarmAt ??= this.#memory.reserve(4));
  }

  /** Whether the alarm has been raised since this was last asked. */
  takeAlarm(): boolean {
    const { i32 } = this.#memory.views;
    const isRaised = i32[this.alarmAt >>> 2] !== 0;
    i32[this.alarmAt >>> 2] = 0;
    return isRaised;
  }

  /** Numbers for the threads of a launch, and one before them. Null where it has more than there are. */
  numbersFor(threads: number): number | null {
    if (threads + 2 >= 2 ** numberBits) return null;
    if (this.#next + threads + 1 >= 2 ** numberBits) {
      for (const { at, bytes } of this.#pieces) fillBytes(this.#memory.views, at, at + bytes);
      this.#next = 1;
    }
    const first = this.#next;
    this.#next += threads + 1;
    return first;
  }

  /** Takes a piece of at least so many bytes for a plane. Returns the byte where it begins, or null. */
  take(plane: Plane, bytes: number): number | null {
    const room = 2 ** Math.ceil(Math.log2(Math.max(bytes, 4096)));
    const key = `${wordsOf(plane)} ${room}`;
    const at = this.#free.get(key)?.pop() ?? this.#reserve(room);
    if (at !== null) this.#taken.set(at, key);
    return at;
  }

  /** Gives back all that is taken. */
  giveBack(): void {
    for (const [at, key] of this.#taken) {
      const list = this.#free.get(key);
      if (list === undefined) this.#free.set(key, [at]);
      else list.push(at);
    }
    this.#taken.clear();
  }

  #reserve(bytes: number): number | null {
    if (this.#bytes + bytes > maxBytes) return null;
    let at: number;
    try {
      at = this.#memory.reserve(bytes);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
    this.#bytes += bytes;
    this.#pieces.push({ at, bytes });
    return at;
  }
}
