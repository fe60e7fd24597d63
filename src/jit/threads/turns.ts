/** A block that has stopped because it only waits for others. It resumes in its context. */
export interface Waiting {
  readonly context: number;
  readonly block: number;
}

/** Contexts for blocks. */
export interface Room {
  /**
   * Opens a context, in which one block at a time can run.
   *
   * @throws RangeError when there is no memory
   */
  openContext(): number;
  readonly maxContexts: number;
}

/**
 * The blocks of a launch that have stopped, and the contexts that are free. Blocks that wait take turns with blocks
 * that have not begun, so that any may wait for any, as long as there is a context for each of them.
 */
export class Turns {
  readonly #stopped: Waiting[] = [];
  readonly #free: number[] = [];
  readonly #room: Room;
  /** How many contexts there may be, and how many have been opened. */
  #maxContexts: number;
  #opened = 0;

  constructor(room: Room) {
    this.#room = room;
    this.#maxContexts = room.maxContexts;
  }

  /** Blocks that wait. */
  get count(): number {
    return this.#stopped.length;
  }

  /** The lowest index of a block that waits, or infinity. */
  get first(): number {
    return this.#stopped.reduce((first, { block }) => Math.min(first, block), Infinity);
  }

  /**
   * Takes a context for a block that begins; null if there is no memory for one more.
   *
   * @throws RangeError when there is no memory for even one
   */
  begin(): number | null {
    const free = this.#free.pop();
    if (free !== undefined || this.#opened >= this.#maxContexts) return free ?? null;
    try {
      const context = this.#room.openContext();
      this.#opened++;
      return context;
    } catch (error) {
      if (!(error instanceof RangeError) || this.#opened === 0) throw error;
      this.#maxContexts = this.#opened;
      return null;
    }
  }

  /** Notes that the block that runs in a context has stopped. */
  stop(waiting: Waiting): void {
    this.#stopped.push(waiting);
  }

  /** Takes the block that has waited longest, to resume it; null if none waits. */
  resume(): Waiting | null {
    return this.#stopped.shift() ?? null;
  }

  /** Frees a context. */
  end(context: number): void {
    this.#free.push(context);
  }

  /** Drops all blocks that wait. Returns how many there were. */
  clear(): number {
    return this.#stopped.splice(0).length;
  }
}
