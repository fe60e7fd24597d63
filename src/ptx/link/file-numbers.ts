import type { FileDirective } from "../tree/leaves.ts";

/**
 * The `.file` directives of a program (11.5.3). Each module numbers its files from 1; the program has one numbering.
 */
export class FileNumbers {
  readonly #numbers = new Map<string, number>();

  /** The program's number for a file of a module. */
  numberOf({ name, timestamp, size }: FileDirective): number {
    const key = `"${name.text}"${timestamp === null ? "" : `, ${timestamp}`}${size === null ? "" : `, ${size}`}`;
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    this.#numbers.set(key, number);
    return number;
  }

  /** The directives of all files that `numberOf` was called for. */
  directives(): string[] {
    return [...this.#numbers].map(([file, number]) => `.file ${number} ${file}`);
  }
}
