import { type DataType, typeBytes } from "../types.ts";

/** The values of `%sizeof` and `%DispatchSimd` at a point of the text. */
export class Constants {
  readonly #grfBytes: number;
  /** Bytes of the variables declared so far, by name; the innermost scope is last. */
  readonly #scopes: Map<string, number>[] = [new Map()];
  /** The kernel's attribute `SimdSize`; null before it. */
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

  /** Declares a variable; `type` is null for an address variable, whose elements are words. */
  declare(name: string, type: DataType | null, elements: number): void {
    this.#scopes.at(-1)?.set(name, elements * (type === null ? 2 : typeBytes(type)));
  }

  /** Bytes of a variable, or of a register if the name is `GRF` and no variable has it; null for an unknown name. */
  sizeOf(name: string): number | null {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const bytes = this.#scopes[i]!.get(name);
      if (bytes !== undefined) return bytes;
    }
    return name === "GRF" ? this.#grfBytes : null;
  }
}
