import { type ClusterQuestion, clusterQuestions, type Instruction } from "../../../ir/index.ts";
import { wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullMask } from "../lanes/mask.ts";
import { anyOf, laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";

/** Writes what lanes tell the launcher of their cluster, and what they ask it. */
export class ClusterPolls {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;

  constructor(chunk: Chunk, at: FunctionContext) {
    this.#chunk = chunk;
    this.#at = at;
  }

  write(block: number, index: number, { dst, guard }: Instruction, asks: ClusterQuestion): void {
    const { writer: w, quads } = this.#chunk;
    const holds = guard === null ? null : this.#chunk.guardMask(guard);
    const lanes = this.#chunk.maskOf(block, holds) ?? fullMask(this.#chunk.quads);
    importHost(this.#at.unit.module, "cluster");
    const answer = w.local("i32");
    w.assign([{ local: answer, value: wasm.i32(0) }]);
    w.value(anyOf(lanes));
    w.if(() => {
      storeEntry(w, this.#at);
      w.get(this.#at.context);
      w.i32(this.#at.siteOf(index, null));
      w.i32(clusterQuestions.indexOf(asks));
      w.value(laneBits(lanes));
      callHost(w, "cluster");
      w.set(answer);
    });
    const [to] = dst;
    if (typeof to === "number" && this.#chunk.analysis.register(to).kind === "uniform") {
      const scalar = wasm.op("i32.ne", wasm.local("i32", answer), wasm.i32(0));
      this.#chunk.write(block, dst, [{ kind: "uniform", ty: "pred", scalar }], holds);
    } else if (dst.length > 0) {
      const quadsOfAnswer = maskOfBits(wasm.local("i32", answer), quads).map((part) => [part]);
      this.#chunk.write(block, dst, [{ kind: "vector", ty: "pred", quads: quadsOfAnswer }], holds);
    }
    w.release(answer);
  }
}
