import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { plus } from "../lanes/scalar.ts";
import type { ByteOffsets } from "./bounds-check.ts";

/** Byte offsets that advance by a fixed step: from chunk to chunk of a row, or from round to round of a loop. */
export class AddressSteps {
  readonly #writer: FunctionWriter;
  readonly #steps: { readonly local: number; readonly value: Wasm }[] = [];
  /** Locals to release at the end. */
  readonly #locals: number[] = [];

  constructor(writer: FunctionWriter) {
    this.#writer = writer;
  }

  /**
   * Adds offsets that advance by `step` bytes (i32), which is evaluated here. `locals`: the locals that hold the
   * offsets.
   */
  add(offsets: ByteOffsets, step: Wasm, locals: readonly number[]): void {
    this.#locals.push(...locals);
    if (offsets.kind === "each" || offsets.at.kind !== "local") return;
    let by = step;
    if (step.kind !== "const") {
      const local = this.#writer.local("i32");
      this.#locals.push(local);
      this.#writer.assign([{ local, value: step }]);
      by = wasm.local("i32", local);
    }
    this.#steps.push({ local: offsets.at.local, value: plus(offsets.at, by) });
  }

  advance(): void {
    this.#writer.assign(this.#steps);
  }

  release(): void {
    for (const local of this.#locals) this.#writer.release(local);
  }
}
