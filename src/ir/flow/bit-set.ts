/** A set of numbers in `[0, size)`, one bit each. */
export class BitSet {
  readonly words: Uint32Array;

  constructor(size: number) {
    this.words = new Uint32Array((size + 31) >>> 5);
  }

  has(member: number): boolean {
    return ((this.words[member >>> 5]! >>> (member & 31)) & 1) !== 0;
  }

  /** True when it was not there before. */
  add(member: number): boolean {
    const at = member >>> 5;
    const before = this.words[at]!;
    this.words[at] = before | (1 << (member & 31));
    return this.words[at] !== before;
  }

  delete(member: number): void {
    const at = member >>> 5;
    this.words[at] = this.words[at]! & ~(1 << (member & 31));
  }

  /** Adds the members of a set of the same size; true when that made a difference. */
  union(other: BitSet): boolean {
    const { words } = this;
    let changed = 0;
    for (let i = 0; i < words.length; i++) {
      const before = words[i]!;
      const after = before | other.words[i]!;
      words[i] = after;
      changed |= before ^ after;
    }
    return changed !== 0;
  }

  clear(): void {
    this.words.fill(0);
  }

  /** In ascending order. */
  forEach(visit: (member: number) => void): void {
    for (let i = 0; i < this.words.length; i++) {
      for (let word = this.words[i]!; word !== 0; word &= word - 1) visit(32 * i + 31 - Math.clz32(word & -word));
    }
  }
}
