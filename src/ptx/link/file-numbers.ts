import type { FileDirective } from "../tree.ts";

/** The `.file` directives of a program (11.5.3): modules count their files from 1 each, and the program has one count. */
export class FileNumbers {
  readonly #numbers = new Map<string, number>();

  /** The program's number of a file that a module names. */
  numberOf({ name, timestamp, size }: FileDirective): number {
    const key = `"${name.text}"${timestamp === null ? "" : `, ${timestamp}`}${size === null ? "" : `, ${size}`}`;
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    this.#numbers.set(key, number);
    return number;
  }

  /** All files that have been asked about. */
  directives(): string[] {
    return [...this.#numbers].map(([file, number]) => `.file ${number} ${file}`);
  }
}
