import { readsOf } from "../ir/flow/accesses.ts";
import type { FlowBlock } from "../ir/flow/flow-graph.ts";
import type { Instruction } from "../ir/index.ts";
import type { Chunk } from "./chunk.ts";

/** Vectors that may have been loaded and not yet used: with what is computed from them they fill the machine's registers. */
const mostLoaded = 8;

/**
 * Keeps arithmetic near the loads on which it works. V8 leaves loads in their order and puts off what is computed from them
 * until it is needed: of a sum over many loads it would make all loads first, and spill them. A store of the sum's value so
 * far, to where nobody reads it, cannot be put off.
 */
export class Pins {
  readonly #chunk: Chunk;
  /** The local with the address of bytes for the vectors of a register. */
  readonly #context: number;
  readonly #offset: number;
  /** Registers that have been loaded since the last pin. */
  readonly #loaded = new Set<number>();
  #vectors = 0;
  #lastLoad = -1;

  constructor(chunk: Chunk, context: number, offset: number) {
    this.#chunk = chunk;
    this.#context = context;
    this.#offset = offset;
  }

  /** What follows are instructions of a block. */
  begin({ start, end }: FlowBlock): void {
    const { instructions } = this.#chunk.analysis.code;
    this.#forget();
    this.#lastLoad = end - 1;
    while (this.#lastLoad >= start && instructions[this.#lastLoad]!.op.kind !== "load") this.#lastLoad--;
  }

  /** An instruction of the block has been written. */
  written(index: number, instruction: Instruction): void {
    const results = instruction.dst.filter((to): to is number => typeof to === "number");
    if (instruction.op.kind === "load") {
      for (const r of results) {
        this.#loaded.add(r);
        this.#vectors += this.#vectorsOf(r).length;
      }
    } else if (this.#vectors >= mostLoaded && index < this.#lastLoad && this.#usesLoaded(instruction)) {
      const vectors = results.flatMap((r) => this.#vectorsOf(r));
      if (vectors.length === 0) return;
      const { writer } = this.#chunk;
      vectors.forEach((local, i) => {
        writer.get(this.#context);
        writer.get(local);
        writer.memory("v128.store", 16, this.#offset + 16 * i);
      });
      this.#forget();
    }
  }

  #usesLoaded(instruction: Instruction): boolean {
    let uses = false;
    readsOf(instruction, { register: (r) => (uses ||= this.#loaded.has(r)) });
    return instruction.op.kind === "pure" && uses;
  }

  #vectorsOf(register: number): number[] {
    return this.#chunk.locals(register).filter((local) => this.#chunk.writer.typeOf(local) === "v128");
  }

  #forget(): void {
    this.#loaded.clear();
    this.#vectors = 0;
  }
}
