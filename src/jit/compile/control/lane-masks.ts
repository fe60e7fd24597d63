import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { bothMasks } from "../lanes/mask.ts";

/** The masks of active lanes, and of pending ones: those that wait at the beginning of blocks for their turn to run. */
export class LaneMasks {
  readonly #chunk: Chunk;
  readonly #byBlock = new Map<number, readonly number[]>();
  /** Locals with the masks of pending lanes, each once: blocks may share one. */
  readonly pending: readonly (readonly number[])[];

  /** `slots`: by block at which lanes may be pending, the number of its mask. */
  constructor(chunk: Chunk, slots: ReadonlyMap<number, number>) {
    this.#chunk = chunk;
    this.pending = Array.from(new Set(slots.values()), () => chunk.active.map(() => chunk.writer.lasting("v128")));
    for (const [block, slot] of slots) this.#byBlock.set(block, this.pending[slot]!);
  }

  /** The blocks at which lanes may be pending. */
  get blocks(): readonly number[] {
    return [...this.#byBlock.keys()];
  }

  mayBePendingAt(block: number): boolean {
    return this.#byBlock.has(block);
  }

  /** The locals with the pending mask of a block. */
  localsAt(block: number): readonly number[] {
    return this.#byBlock.get(block)!;
  }

  pendingAt(block: number): readonly Wasm[] {
    return this.localsAt(block).map((local) => wasm.local("v128", local));
  }

  addPending(block: number, mask: readonly Wasm[]): void {
    const locals = this.#byBlock.get(block);
    if (locals === undefined) throw new Error(`lanes cannot wait at block ${block}`);
    this.#chunk.writer.assign(
      locals.map((local, q) => ({ local, value: wasm.op("v128.or", wasm.local("v128", local), mask[q]!) })),
    );
  }

  clearPending(): void {
    this.#chunk.writer.assign(this.pending.flat().map((local) => ({ local, value: wasm.i32x4(0) })));
  }

  get active(): readonly Wasm[] {
    return this.#chunk.active.map((local) => wasm.local("v128", local));
  }

  setActive(mask: readonly Wasm[]): void {
    this.#chunk.writer.assign(this.#chunk.active.map((local, q) => ({ local, value: mask[q]! })));
  }

  deactivateAll(): void {
    this.setActive(this.#chunk.active.map(() => wasm.i32x4(0)));
  }

  deactivate(mask: readonly Wasm[]): void {
    this.setActive(this.active.map((lanes, q) => wasm.op("v128.andnot", lanes, mask[q]!)));
  }

  /** The lanes of a mask that are active in a block. */
  within(block: number, mask: readonly Wasm[]): readonly Wasm[] {
    return bothMasks(mask, this.#chunk.activeMask(block))!;
  }
}
