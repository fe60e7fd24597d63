import type { Allocation } from "../../machine/memory/allocation.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";

/** Bytes that are kept for the next copy, at most: fresh memory of the host takes longer than the copy. */
const maxKept = 2 ** 28;

/** Copies of those allocations that a launch may write, for launches that may be undone. */
export class SavedAllocations {
  readonly #memory: DeviceMemory;
  #room = new Uint8Array();

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** Copies some allocations. Returns what restores them, until the next copy is made. */
  save(allocations: readonly Allocation[]): () => void {
    const bytes = allocations.reduce((sum, { start, end }) => sum + end - start, 0);
    const room = this.#roomFor(bytes);
    let at = 0;
    const kept = allocations.map(({ start, end }) => {
      const copy = room.subarray(at, (at += end - start));
      copy.set(this.#memory.views.u8.subarray(start, end));
      return { start, copy };
    });
    return () => {
      this.#memory.history.forget();
      for (const { start, copy } of kept) this.#memory.views.u8.set(copy, start);
    };
  }

  #roomFor(bytes: number): Uint8Array {
    if (bytes > maxKept) return new Uint8Array(bytes);
    if (this.#room.length < bytes) this.#room = new Uint8Array(Math.min(maxKept, 2 * bytes));
    return this.#room;
  }
}
