import { type DataType, typeBytes } from "../types.ts";

/** What `%sizeof` and `%DispatchSimd` are worth at a place in the text. */
export class Constants {
  readonly #grfBytes: number;
  /** Bytes of the variables declared so far; the innermost scope last. */
  readonly #scopes: Map<string, number>[] = [new Map()];
  /** Lanes of the kernel, from its attribute `SimdSize`. */
  dispatchSimd: number | null = null;

  constructor(grfBytes: number) {
    this.#grfBytes = grfBytes;
  }

  enterRoutine(): void {
    this.#scopes.length = 0;
    this.enterScope();
    this.dispatchSimd = null;
  }

  enterScope(): void {
    this.#scopes.push(new Map());
  }

  leaveScope(): void {
    this.#scopes.pop();
  }

  /** `type` null: an address variable, whose elements are words. */
  declare(name: string, type: DataType | null, elements: number): void {
    this.#scopes.at(-1)?.set(name, elements * (type === null ? 2 : typeBytes(type)));
  }

  /** Bytes of a variable, or of a register for the name `GRF` where no variable has it. */
  sizeOf(name: string): number | null {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const bytes = this.#scopes[i]!.get(name);
      if (bytes !== undefined) return bytes;
    }
    return name === "GRF" ? this.#grfBytes : null;
  }
}
