import type { Span } from "../../source/index.ts";
import type { VisaFile } from "../tree.ts";

/**
 * The statements that the parser skipped. Each has its syntax error; nothing more is reported about names, labels and
 * attributes that may be missing because of it.
 */
export class Skipped {
  readonly #spans: readonly Span[];
  readonly #words: ReadonlySet<string>;

  constructor({ source, skipped = [] }: VisaFile) {
    this.#spans = skipped;
    this.#words = new Set(skipped.flatMap(({ start, end }) => source.text.slice(start, end).match(/[\w%$@?]+/g) ?? []));
  }

  /** Whether a name occurs in one of them, which might have declared it. */
  names(name: string): boolean {
    return this.#words.has(name);
  }

  /** Whether any of them lies between two offsets. */
  between(start: number, end: number): boolean {
    let low = 0;
    let high = this.#spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#spans[middle]!.end <= start) low = middle + 1;
      else high = middle;
    }
    const found = this.#spans[low];
    return found !== undefined && found.start < end;
  }
}
