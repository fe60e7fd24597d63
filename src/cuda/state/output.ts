/** What kernels have printed and the program has not been given: it writes that to its own stdout when it waits. */
export class Output {
  /** The most bytes that are kept (cudaLimitPrintfFifoSize). */
  limit = 1 << 20;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** Adds what one call of printf has printed. What is oldest is lost where there is no room. */
  add(text: string): void {
    const piece = new TextEncoder().encode(text);
    this.#pieces.push(piece);
    this.#bytes += roomOf(piece);
    while (this.#bytes > this.limit && this.#pieces.length > 1) this.#bytes -= roomOf(this.#pieces.shift()!);
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Takes whole pieces of at most so many bytes, or the beginning of one that is larger. */
  take(most: number): Uint8Array {
    let bytes = 0;
    let count = 0;
    while (count < this.#pieces.length && bytes + this.#pieces[count]!.length <= most)
      bytes += this.#pieces[count++]!.length;
    if (count === 0 && this.#pieces.length > 0) {
      const [first] = this.#pieces;
      this.#pieces[0] = first!.subarray(most);
      return first!.subarray(0, most);
    }
    const taken = new Uint8Array(bytes);
    let at = 0;
    for (const piece of this.#pieces.splice(0, count)) {
      taken.set(piece, at);
      at += piece.length;
      this.#bytes -= roomOf(piece);
    }
    return taken;
  }
}

/** Bytes that the text of one call takes in the buffer of a device: its header, its format and its arguments. */
const roomOf = (piece: Uint8Array): number => Math.ceil((piece.length + 16) / 8) * 8;
