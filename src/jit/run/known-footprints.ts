import type { ChosenLevels } from "../../program/images/texture-fetch.ts";

/** Gradients that are kept: a power of two. Lanes next to each other often have the same, or few different ones. */
const kept = 16;
const mostWords = 6;

/** What gradients have come to before, by their words: levels follow from nothing else, unless the image is a cube. */
export class KnownFootprints {
  readonly #words = new Int32Array(kept * mostWords);
  readonly #chosen: (ChosenLevels | null)[] = new Array<ChosenLevels | null>(kept).fill(null);

  /** The levels that follow from `count` words, each `stride` after the one before; `choose` finds them once. */
  of(words: Int32Array, first: number, stride: number, count: number, choose: () => ChosenLevels): ChosenLevels {
    let hash = 0;
    for (let i = 0; i < count; i++) hash = Math.imul(hash ^ words[first + i * stride]!, 0x9e37_79b1);
    const at = (hash >>> 28) & (kept - 1);
    const known = this.#chosen[at]!;
    if (known !== null && this.#isSame(at, words, first, stride, count)) return known;
    for (let i = 0; i < count; i++) this.#words[at * mostWords + i] = words[first + i * stride]!;
    return (this.#chosen[at] = { ...choose() });
  }

  #isSame(at: number, words: Int32Array, first: number, stride: number, count: number): boolean {
    for (let i = 0; i < count; i++) {
      if (this.#words[at * mostWords + i] !== words[first + i * stride]) return false;
    }
    return true;
  }
}
