/** Prints the output of blocks in the order of the grid, in whichever order they run. */
export class OrderedOutput {
  readonly #print: (text: string) => void;
  /** By block; null as long as nothing has been printed. */
  #pending: Map<number, string> | null = null;

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  add(block: number, text: string): void {
    this.#pending ??= new Map();
    this.#pending.set(block, (this.#pending.get(block) ?? "") + text);
  }

  /** Prints the output of all blocks before `end`, which have ended. */
  flush(end: number): void {
    const pending = this.#pending;
    if (pending === null || pending.size === 0) return;
    const ready = [...pending].filter(([block]) => block < end).sort(([a], [b]) => a - b);
    for (const [block, text] of ready) {
      pending.delete(block);
      this.#print(text);
    }
  }
}
