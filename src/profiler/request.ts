import { lowestLane } from "../ir/lane-mask.ts";

/**
 * The size of a memory sector in bytes; the number of shared memory banks, and the bytes that a bank serves at a time.
 */
const sectorBytes = 32;
const banks = 32;
const bankBytes = 4;

/** The bytes of shared memory that one pass can serve. */
const passBytes = banks * bankBytes;

/** The sectors of one request. */
export interface Traffic {
  /** Sectors that are touched, and the fewest that could hold the bytes. */
  readonly sectors: number;
  readonly least: number;
}

/**
 * The memory request of one instruction: `bytes` bytes from the address of each lane. The object is reused for the next
 * instruction.
 */
export class Request {
  /** The low 32 bits of each lane's address, all in one state space; valid where `mask` is set. */
  readonly addresses = new Uint32Array(32);
  mask = 0;
  bytes = 0;
  /** Starts of intervals, or word numbers, in ascending order. It grows beyond 8 words for each of 32 lanes. */
  #starts = new Float64Array(32 * 8);
  #count = 0;

  /** Counts sectors of memory in which each lane's bytes are contiguous. */
  traffic(): Traffic {
    this.#begin();
    for (let m = this.mask; m !== 0; m &= m - 1) this.#insert(this.addresses[lowestLane(m)]!);
    return this.#sweep(this.bytes);
  }

  /** The same for stacks, which are interleaved in memory: word by word, one lane after the other. */
  interleavedTraffic(): Traffic {
    this.#begin();
    const piece = Math.min(this.bytes, 4);
    for (let m = this.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const address = this.addresses[lane]!;
      for (let at = address; at < address + this.bytes; at += 4) {
        this.#insert((Math.floor(at / 4) * 32 + lane) * 4 + (at % 4));
      }
    }
    return this.#sweep(piece);
  }

  /**
   * Counts passes over shared memory: in each pass, a bank serves one word to all lanes that ask for it. Accesses of 8
   * bytes are made for half a warp at a time, those of 16 bytes for a quarter. `least` is the number without bank
   * conflicts.
   */
  passes(): { readonly passes: number; readonly least: number } {
    const together = this.bytes <= 4 ? 32 : Math.max(1, Math.floor(passBytes / this.bytes));
    let passes = 0;
    let least = 0;
    for (let first = 0; first < 32; first += together) {
      this.#begin();
      for (let lane = first; lane < Math.min(first + together, 32); lane++) {
        if (((this.mask >>> lane) & 1) === 0) continue;
        const from = Math.floor(this.addresses[lane]! / bankBytes);
        const to = Math.floor((this.addresses[lane]! + this.bytes - 1) / bankBytes);
        for (let word = from; word <= to; word++) this.#insert(word);
      }
      if (this.#count === 0) continue;
      const wanted = new Uint16Array(banks);
      let words = 0;
      let last = -1;
      for (let i = 0; i < this.#count; i++) {
        const word = this.#starts[i]!;
        if (word === last) continue;
        last = word;
        words++;
        wanted[word % banks]!++;
      }
      passes += Math.max(...wanted);
      least += Math.ceil(words / banks);
    }
    return { passes, least };
  }

  /** Counts the different addresses, and the lanes at the most frequent one. */
  contention(): { readonly addresses: number; readonly most: number } {
    this.#begin();
    for (let m = this.mask; m !== 0; m &= m - 1) this.#insert(this.addresses[lowestLane(m)]!);
    let addresses = 0;
    let most = 0;
    let run = 0;
    for (let i = 0; i < this.#count; i++) {
      run = i > 0 && this.#starts[i] === this.#starts[i - 1] ? run + 1 : 1;
      if (run === 1) addresses++;
      if (run > most) most = run;
    }
    return { addresses, most };
  }

  #begin(): void {
    this.#count = 0;
  }

  /** Insertion sort: addresses usually ascend with the lane. */
  #insert(start: number): void {
    if (this.#count === this.#starts.length) {
      const larger = new Float64Array(2 * this.#count);
      larger.set(this.#starts);
      this.#starts = larger;
    }
    let at = this.#count++;
    for (; at > 0 && this.#starts[at - 1]! > start; at--) this.#starts[at] = this.#starts[at - 1]!;
    this.#starts[at] = start;
  }

  /** Counts the sectors of intervals of `bytes` bytes that begin at `#starts`. */
  #sweep(bytes: number): Traffic {
    let sectors = 0;
    let covered = 0;
    let end = 0;
    let nextSector = 0;
    for (let i = 0; i < this.#count; i++) {
      const start = this.#starts[i]!;
      covered += start + bytes - Math.max(start, end);
      end = start + bytes;
      const first = Math.max(Math.floor(start / sectorBytes), nextSector);
      nextSector = Math.floor((end - 1) / sectorBytes) + 1;
      sectors += nextSector - first;
    }
    return { sectors, least: Math.ceil(covered / sectorBytes) };
  }
}
