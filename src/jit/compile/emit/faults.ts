import { allBits, laneBits } from "../lanes/mask-bits.ts";
import type { Mask } from "../lanes/mask.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost } from "../module/host-calls.ts";
import type { Chunk } from "./chunk.ts";

/** Writes the end of a launch: an instruction that has no defined continuation in some lanes. */
export class Faults {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;

  constructor(chunk: Chunk, context: FunctionContext) {
    this.#chunk = chunk;
    this.#context = context;
  }

  /**
   * Reports that an instruction fails in the lanes of a mask (null: all). `shown` (32 bits): a value that the report
   * states.
   */
  raise(instruction: number, lanes: Mask, shown: Value | null = null): void {
    const { writer, quads } = this.#chunk;
    const { context, layout, siteOf } = this.#context;
    if (shown !== null) {
      vectorOf(shown, quads).quads.forEach(([part], q) => {
        writer.get(context);
        writer.value(part!);
        writer.memory("v128.store", 16, layout.values + 16 * q);
      });
    }
    storeEntry(writer, this.#context);
    writer.get(context);
    writer.i32(siteOf(instruction, null));
    writer.value(lanes === null ? allBits(this.#chunk.lanes) : laneBits(lanes));
    callHost(writer, "fault");
  }
}
