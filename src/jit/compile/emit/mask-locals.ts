import { type Assignment, type Wasm, wasm } from "../../../wasm/index.ts";
import { type Narrow, narrow, narrowedMask, type NarrowBits, narrowParts, widenedMask } from "../lanes/narrow.ts";
import type { Chunk } from "./chunk.ts";

/** A mask of the chunk's lanes in locals, of words or in narrow lanes. */
export class MaskLocals {
  readonly #chunk: Chunk;
  readonly #bits: NarrowBits | null;
  readonly #locals: readonly number[];

  /** `bits`: of its narrow lanes; null: words. */
  constructor(chunk: Chunk, bits: NarrowBits | null) {
    this.#chunk = chunk;
    this.#bits = bits;
    const count = bits === null ? chunk.quads : narrowParts(bits, chunk.quads);
    this.#locals = Array.from({ length: count }, () => chunk.writer.local("v128"));
  }

  /** The mask as one of words. */
  get value(): readonly Wasm[] {
    const parts = this.#locals.map((local) => wasm.local("v128", local));
    if (this.#bits === null) return parts;
    const mask: Narrow = narrow(this.#bits, parts);
    return widenedMask(mask, this.#chunk.quads).map(([quad]) => quad!);
  }

  /** The assignments that give it a value. */
  assigned(mask: readonly Wasm[]): Assignment[] {
    const parts = this.#bits === null ? mask : narrowedMask(mask, this.#bits).parts;
    return this.#locals.map((local, i) => ({ local, value: parts[i]! }));
  }

  release(): void {
    for (const local of this.#locals) this.#chunk.writer.release(local);
  }
}
