import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { plus } from "../lanes/scalar.ts";
import type { LaneBytes } from "./bounds-check.ts";

/** Places that move on by the same: from chunk to chunk of a row, or from round to round of a loop. */
export class AddressSteps {
  readonly #writer: FunctionWriter;
  readonly #steps: { readonly local: number; readonly value: Wasm }[] = [];
  /** Given back in the end. */
  readonly #locals: number[] = [];

  constructor(writer: FunctionWriter) {
    this.#writer = writer;
  }

  /** `step`: in bytes (i32), the same from now on. `locals`: in which the places were found. */
  add(places: LaneBytes, step: Wasm, locals: readonly number[]): void {
    this.#locals.push(...locals);
    if (places.kind === "each" || places.at.kind !== "local") return;
    let by = step;
    if (step.kind !== "const") {
      const local = this.#writer.local("i32");
      this.#locals.push(local);
      this.#writer.assign([{ local, value: step }]);
      by = wasm.local("i32", local);
    }
    this.#steps.push({ local: places.at.local, value: plus(places.at, by) });
  }

  moveOn(): void {
    this.#writer.assign(this.#steps);
  }

  release(): void {
    for (const local of this.#locals) this.#writer.release(local);
  }
}
