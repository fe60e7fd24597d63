const places = 0x4000;
const longest = 64;

/**
 * Cuts names out of a text, most of the time the same string for the same name: modules repeat few names many times. A cache
 * with one place for each hash, so its size is bounded.
 */
export class Names {
  readonly #text: string;
  readonly #known: string[] = new Array(places).fill("");

  constructor(text: string) {
    this.#text = text;
  }

  slice(start: number, end: number): string {
    const text = this.#text;
    if (end - start > longest) return text.slice(start, end);
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const place = (hash ^ (hash >>> 14)) & (places - 1);
    const known = this.#known[place]!;
    if (known.length === end - start && text.startsWith(known, start)) return known;
    const name = text.slice(start, end);
    this.#known[place] = name;
    return name;
  }
}
