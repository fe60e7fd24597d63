import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";

/** The masks of the lanes that run, and of those that wait at the beginning of blocks: in locals. */
export class LaneMasks {
  readonly #chunk: Chunk;
  readonly #waiting = new Map<number, readonly number[]>();
  /** The masks of waiting lanes, each once: blocks may share one. */
  readonly ofWaiting: readonly (readonly number[])[];

  /** `places`: by block at which lanes may wait, the number of its mask. */
  constructor(chunk: Chunk, places: ReadonlyMap<number, number>) {
    this.#chunk = chunk;
    this.ofWaiting = Array.from(new Set(places.values()), () => chunk.active.map(() => chunk.writer.lasting("v128")));
    for (const [w, place] of places) this.#waiting.set(w, this.ofWaiting[place]!);
  }

  /** The blocks at which lanes may wait. */
  get blocks(): readonly number[] {
    return [...this.#waiting.keys()];
  }

  mayWaitAt(block: number): boolean {
    return this.#waiting.has(block);
  }

  /** The locals of the lanes that wait at a block. */
  localsAt(block: number): readonly number[] {
    return this.#waiting.get(block)!;
  }

  waitingAt(block: number): readonly Wasm[] {
    return this.localsAt(block).map((local) => wasm.local("v128", local));
  }

  addWaiting(block: number, mask: readonly Wasm[]): void {
    const locals = this.#waiting.get(block);
    if (locals === undefined) throw new Error(`lanes cannot wait at block ${block}`);
    this.#chunk.writer.assign(
      locals.map((local, q) => ({ local, value: wasm.op("v128.or", wasm.local("v128", local), mask[q]!) })),
    );
  }

  /** Nobody waits anywhere. */
  clearWaiting(): void {
    this.#chunk.writer.assign(this.ofWaiting.flat().map((local) => ({ local, value: wasm.i32x4(0) })));
  }

  get active(): readonly Wasm[] {
    return this.#chunk.active.map((local) => wasm.local("v128", local));
  }

  setActive(mask: readonly Wasm[]): void {
    this.#chunk.writer.assign(this.#chunk.active.map((local, q) => ({ local, value: mask[q]! })));
  }

  setNobody(): void {
    this.setActive(this.#chunk.active.map(() => wasm.i32x4(0)));
  }

  deactivate(mask: readonly Wasm[]): void {
    this.setActive(this.active.map((lanes, q) => wasm.op("v128.andnot", lanes, mask[q]!)));
  }

  /** Those lanes of a mask that are active in a block. */
  within(block: number, mask: readonly Wasm[]): readonly Wasm[] {
    const active = this.#chunk.activeMask(block);
    return active === null ? mask : mask.map((g, q) => wasm.op("v128.and", g, active[q]!));
  }
}
