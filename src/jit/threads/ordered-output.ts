/** Prints the output of blocks in the order of the grid, in whichever order they run. */
export class OrderedOutput {
  readonly #print: (text: string) => void;
  readonly #pending = new Map<number, string>();

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  add(block: number, text: string): void {
    this.#pending.set(block, (this.#pending.get(block) ?? "") + text);
  }

  /** Prints the output of all blocks before `end`, which have ended. */
  flush(end: number): void {
    if (this.#pending.size === 0) return;
    const ready = [...this.#pending].filter(([block]) => block < end).sort(([a], [b]) => a - b);
    for (const [block, text] of ready) {
      this.#pending.delete(block);
      this.#print(text);
    }
  }
}
