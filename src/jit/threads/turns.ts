/** A block that has stopped because it only waits for others. It goes on in the context that it has. */
export interface Waiting {
  readonly context: number;
  readonly block: number;
}

/** Room in the memory for blocks that have begun. */
export interface Room {
  /** For one more block at a time. Throws a RangeError when there is none. */
  openContext(): number;
  readonly mostContexts: number;
}

/**
 * The blocks of a launch that have stopped, and contexts that nobody uses. Blocks that wait take turns with such that have not
 * begun, so that any may wait for any, as long as there is room for all of them.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  readonly #free: number[] = [];
  readonly #room: Room;
  /** How many contexts there may be, and how many there are. */
  #most: number;
  #opened = 0;

  constructor(room: Room) {
    this.#room = room;
    this.#most = room.mostContexts;
  }

  /** How many blocks wait. */
  get count(): number {
    return this.#waiting.length;
  }

  /** The first of the blocks that wait, or infinity. */
  get first(): number {
    return this.#waiting.reduce((least, { block }) => Math.min(least, block), Infinity);
  }

  /** A context for a block that begins, or null when there is no room for one more. Throws a RangeError when there is for none. */
  begin(): number | null {
    const free = this.#free.pop();
    if (free !== undefined || this.#opened >= this.#most) return free ?? null;
    try {
      const context = this.#room.openContext();
      this.#opened++;
      return context;
    } catch (error) {
      if (!(error instanceof RangeError) || this.#opened === 0) throw error;
      this.#most = this.#opened;
      return null;
    }
  }

  /** The block that runs in a context waits from now on. */
  stop(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  /** The one that has waited longest goes on. */
  goOn(): Waiting | null {
    return this.#waiting.shift() ?? null;
  }

  /** Nobody runs in this context any more. */
  end(context: number): void {
    this.#free.push(context);
  }

  /** Nobody goes on any more. Returns how many have waited. */
  clear(): number {
    return this.#waiting.splice(0).length;
  }
}
