/** What blocks print, in the order of the grid, whichever of them runs first. */
export class OrderedOutput {
  readonly #print: (text: string) => void;
  readonly #waiting = new Map<number, string>();

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  add(block: number, text: string): void {
    this.#waiting.set(block, (this.#waiting.get(block) ?? "") + text);
  }

  /** All blocks before `end` have ended: what they have printed is given out. */
  flush(end: number): void {
    if (this.#waiting.size === 0) return;
    const ready = [...this.#waiting].filter(([block]) => block < end).sort(([a], [b]) => a - b);
    for (const [block, text] of ready) {
      this.#waiting.delete(block);
      this.#print(text);
    }
  }
}
