import { predefinedVariables } from "../predefined.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { predefinedInPool, rowBytes } from "./format.ts";

/**
 * The names of a routine in the order in which it mentions them, like the reference writer's: its own, those of the
 * predefined variables, and then one for each declaration, attribute, label and called function.
 */
export class StringPool {
  readonly #strings: string[] = [];

  constructor(routine: string) {
    this.add(routine);
    for (const { kind, name, index } of predefinedVariables(rowBytes)) {
      if (kind !== "G" || index < predefinedInPool) this.add(name);
    }
  }

  /** Adds a string, even if it is already there, and returns its index. */
  add(text: string): number {
    return this.#strings.push(text) - 1;
  }

  write(out: ByteWriter): void {
    out.u32(this.#strings.length);
    for (const text of this.#strings) {
      out.text(text);
      out.u8(0);
    }
  }
}
