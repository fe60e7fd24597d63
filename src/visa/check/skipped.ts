import type { Span } from "../../source/index.ts";
import type { VisaFile } from "../tree.ts";

/**
 * What the statements that the parser skipped would have given: one syntax error is enough for a declaration that is wrong,
 * and nothing is said of the names, labels and attributes that are missing because of it.
 */
export class Skipped {
  readonly #spans: readonly Span[];
  readonly #variables = new Set<string>();
  readonly #labels = new Set<string>();
  readonly #attributes = new Set<string>();

  constructor({ source, skipped = [] }: VisaFile) {
    this.#spans = skipped;
    for (const { start, end } of skipped) {
      for (const line of source.text.slice(start, end).split("\n")) this.#line(line);
    }
  }

  #line(line: string): void {
    const [, directive, name] = /^\s*(\.?\w+)\s*"?([\w%$@?.]*)/.exec(line.slice(0, 400)) ?? [];
    if (directive === undefined || name === undefined) return;
    if (directive === ".kernel_attr") this.#attributes.add(name);
    else if (directive === ".function") this.#labels.add(name);
    else if (directive.startsWith(".")) this.#variables.add(name);
    else if (/^\s*[\w$@?]+\s*:/.test(line)) this.#labels.add(directive);
  }

  hasVariable(name: string): boolean {
    return this.#variables.has(name);
  }

  hasLabel(name: string): boolean {
    return this.#labels.has(name);
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }

  /** Whether anything between two offsets was skipped. */
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
