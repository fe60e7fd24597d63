import { digitsAt } from "../check/scope.ts";

/** Makes names that do not occur in the given texts, nor belong to a range of registers (`r<8>`) in them. */
export class FreshNames {
  readonly #texts: Iterable<string>;
  readonly #counts = new Map<string, number>();
  #stems: ReadonlySet<string> | null = null;

  constructor(texts: Iterable<string>) {
    this.#texts = texts;
  }

  /** `wanted$2`, `wanted$3`, ... */
  next(wanted: string): string {
    // Built on first use: most programs need no fresh names.
    this.#stems ??= stemsOf(this.#texts);
    let stem = `${wanted}$`;
    while (this.#stems.has(stem)) stem += "$";
    const count = (this.#counts.get(stem) ?? 1) + 1;
    this.#counts.set(stem, count);
    return stem + count;
  }
}

/** The names that end in `$`, or in `$` and digits, without the digits. */
function stemsOf(texts: Iterable<string>): Set<string> {
  const stems = new Set<string>();
  for (const text of texts) {
    for (const [name] of text.matchAll(/[\w$%]+/g)) {
      const stem = name.slice(0, digitsAt(name));
      if (stem.endsWith("$")) stems.add(stem);
    }
  }
  return stems;
}
