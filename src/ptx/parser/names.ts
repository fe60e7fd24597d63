const slots = 0x4000;
const maxLength = 64;

/**
 * Interns the names of a text: repeated names are usually returned as the same string, because modules repeat few names
 * many times. A direct-mapped cache, so its size is bounded.
 */
export class Names {
  readonly #text: string;
  readonly #known: string[] = new Array(slots).fill("");

  constructor(text: string) {
    this.#text = text;
  }

  slice(start: number, end: number): string {
    const text = this.#text;
    if (end - start > maxLength) return text.slice(start, end);
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const slot = (hash ^ (hash >>> 14)) & (slots - 1);
    const known = this.#known[slot]!;
    if (known.length === end - start && text.startsWith(known, start)) return known;
    const name = text.slice(start, end);
    this.#known[slot] = name;
    return name;
  }
}
