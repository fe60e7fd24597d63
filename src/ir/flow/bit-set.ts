/**
 * Bits and words of a part. 64 bytes are the most that V8 keeps on its own heap; larger arrays are allocated
 * separately.
 */
const partBits = 512;
const partWords = partBits / 32;

interface Part {
  /** Signed, like the results of bitwise operators: reading an unsigned word may allocate a number. */
  readonly words: Int32Array;
  /** The only set that uses the part, and may therefore change it. */
  owner: BitSet | null;
}

/**
 * A set of numbers in `[0, size)`, one bit each, in parts that sets share while they are equal: facts about the places
 * of a large function differ little from one place to the next.
 */
export class BitSet {
  /** Undefined where a part is empty. */
  readonly #parts: (Part | undefined)[];

  constructor(size: number) {
    this.#parts = new Array<Part | undefined>(Math.ceil(size / partBits)).fill(undefined);
  }

  /** Returns a new set with the same members. */
  copy(): BitSet {
    const copied = new BitSet(this.#parts.length * partBits);
    for (let i = 0; i < this.#parts.length; i++) {
      const part = this.#parts[i];
      if (part !== undefined) copied.#share(i, part);
    }
    return copied;
  }

  has(member: number): boolean {
    const word = this.#parts[Math.floor(member / partBits)]?.words[wordOf(member)] ?? 0;
    return ((word >>> (member & 31)) & 1) !== 0;
  }

  get isEmpty(): boolean {
    return this.#parts.every((part) => part === undefined || part.words.every((word) => word === 0));
  }

  add(member: number): void {
    if (!this.has(member)) this.#changed(Math.floor(member / partBits))[wordOf(member)]! |= 1 << (member & 31);
  }

  delete(member: number): void {
    if (this.has(member)) this.#changed(Math.floor(member / partBits))[wordOf(member)]! &= ~(1 << (member & 31));
  }

  /** Adds the members of a set of the same size. */
  union(other: BitSet): void {
    for (let i = 0; i < this.#parts.length; i++) {
      const ours = this.#parts[i];
      const theirs = other.#parts[i];
      if (theirs === undefined || ours === theirs || (ours !== undefined && contains(ours, theirs))) continue;
      this.#addPart(i, theirs);
    }
  }

  /** Whether a set of the same size has the same members. Equal parts are shared from then on. */
  equals(other: BitSet): boolean {
    let same = true;
    for (let i = 0; i < this.#parts.length; i++) {
      const ours = this.#parts[i];
      const theirs = other.#parts[i];
      if (ours === theirs) continue;
      if (ours !== undefined && theirs !== undefined && contains(ours, theirs) && contains(theirs, ours)) {
        this.#share(i, theirs);
      } else same = false;
    }
    return same;
  }

  /** The lowest member that is greater than a number; undefined if there is none. */
  firstAfter(member: number): number | undefined {
    const from = member + 1;
    for (let i = Math.floor(from / partBits); i < this.#parts.length; i++) {
      const words = this.#parts[i]?.words;
      if (words === undefined) continue;
      const base = partBits * i;
      for (let w = base < from ? wordOf(from) : 0; w < partWords; w++) {
        const low = base + 32 * w;
        const word = low < from ? words[w]! & (-1 << (from & 31)) : words[w]!;
        if (word !== 0) return low + 31 - Math.clz32(word & -word);
      }
    }
    return undefined;
  }

  /** Visits the members in ascending order. */
  forEach(visit: (member: number) => void): void {
    for (let i = 0; i < this.#parts.length; i++) {
      const words = this.#parts[i]?.words;
      if (words === undefined) continue;
      for (let w = 0; w < partWords; w++) forEachBit(words[w]!, partBits * i + 32 * w, visit);
    }
  }

  /** Adds the members of a set of the same size, and shows those that were missing. */
  unionNew(other: BitSet, visit: (member: number) => void): void {
    for (let i = 0; i < other.#parts.length; i++) {
      const ours = this.#parts[i];
      const theirs = other.#parts[i];
      if (theirs === undefined || theirs === ours) continue;
      let isNew = false;
      for (let w = 0; w < partWords; w++) {
        const added = theirs.words[w]! & ~(ours?.words[w] ?? 0);
        if (added === 0) continue;
        isNew = true;
        forEachBit(added, partBits * i + 32 * w, visit);
      }
      if (isNew) this.#addPart(i, theirs);
    }
  }

  /** Adds the members of a part that has some which are missing here. */
  #addPart(i: number, part: Part): void {
    const ours = this.#parts[i];
    if (ours === undefined || contains(part, ours)) {
      this.#share(i, part);
      return;
    }
    const words = this.#changed(i);
    for (let w = 0; w < partWords; w++) words[w]! |= part.words[w]!;
  }

  #share(i: number, part: Part | undefined): void {
    if (part !== undefined) part.owner = null;
    this.#parts[i] = part;
  }

  /** Returns the words of a part, copied if the part is shared, for the caller to change. */
  #changed(i: number): Int32Array {
    const part = this.#parts[i];
    if (part?.owner === this) return part.words;
    const words = part === undefined ? new Int32Array(partWords) : new Int32Array(part.words);
    this.#parts[i] = { words, owner: this };
    return words;
  }
}

const wordOf = (member: number): number => (member % partBits) >>> 5;

function contains(all: Part, some: Part): boolean {
  for (let w = 0; w < partWords; w++) if ((some.words[w]! & ~all.words[w]!) !== 0) return false;
  return true;
}

function forEachBit(word: number, from: number, visit: (member: number) => void): void {
  for (let rest = word; rest !== 0; rest &= rest - 1) visit(from + 31 - Math.clz32(rest & -rest));
}
