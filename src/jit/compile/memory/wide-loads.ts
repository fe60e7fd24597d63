import type { Access } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { AssembledWord, LoadedWord } from "../analysis/access/assembled-words.ts";
import type { WideLoad, WideLoadPart } from "../analysis/access/wide-loads.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import type { Value } from "../lanes/value.ts";
import { partOfWords } from "../lanes/word-parts.ts";
import { type CheckedAccess, isAlwaysGood } from "./checked-access.ts";
import type { VectorMoves } from "./vector-moves.ts";

/** The wide loads of a function and the words that are put together from them, by instruction. */
export interface WideAccesses {
  readonly wideLoads: ReadonlyMap<number, WideLoadPart>;
  readonly assembledWords: ReadonlyMap<number, AssembledWord>;
}

/** What a wide load has loaded. */
interface Loaded {
  /** The locals of each word. */
  readonly words: readonly (readonly number[])[];
  /** The instruction that used it last: instructions of one version of the code come in ascending order. */
  last: number;
  /** Whether it was loaded on every way to where code is written. */
  readonly isCertain: boolean;
}

/** Writes wide loads: the first load of one loads all of it, and keeps it in locals for the others. */
export class WideLoads {
  readonly #chunk: Chunk;
  readonly #moves: VectorMoves;
  readonly #assembled: ReadonlyMap<number, AssembledWord>;
  /** By wide load, the last instruction that may use it. */
  readonly #ends = new Map<WideLoad, number>();
  readonly #loaded = new Map<WideLoad, Loaded>();

  constructor(chunk: Chunk, moves: VectorMoves, { wideLoads, assembledWords }: WideAccesses) {
    this.#chunk = chunk;
    this.#moves = moves;
    this.#assembled = assembledWords;
    const use = (wide: WideLoad, index: number): void => {
      this.#ends.set(wide, Math.max(index, this.#ends.get(wide) ?? 0));
    };
    for (const [index, { wide }] of wideLoads) use(wide, index);
    for (const [index, { words }] of assembledWords) for (const { wide } of words) use(wide, index);
  }

  /**
   * Whether elements that go to narrow lanes are loaded alone: those of lanes beside each other are a vector as they
   * are, where each four lanes would have a vector of words. Not where words are put together: those are loaded whole.
   */
  areFewerAlone(access: Access, { offsets, wideLoad }: CheckedAccess): boolean {
    const isDense = offsets.kind === "run" && Math.abs(offsets.stride) === access.bits / 8;
    return isDense && !this.#isAssembled(wideLoad!.wide);
  }

  #isAssembled(wide: WideLoad): boolean {
    return [...this.#assembled.values()].some(({ words }) => words.some((word) => word.wide === wide));
  }

  /** Loads the part of a wide load that a load takes. `index`: that of the load. */
  load(index: number, access: Access, checked: CheckedAccess, into: readonly number[], mask: Mask): void {
    const { wide, at } = checked.wideLoad!;
    const words = this.#loadOnce(index, access, checked, checked.wideLoad!, mask);
    const own = words[at >> 2]!;
    this.#chunk.writer.assign(
      into.map((local, q) => ({ local, value: partOfWords(access, at & 3, wasm.local("v128", own[q]!)) })),
    );
    this.#loaded.get(wide)!.last = index;
  }

  /** The value of an instruction that puts a word together, where its bytes have certainly been loaded. */
  assembled(index: number): Value | null {
    const word = this.#assembled.get(index);
    if (word === undefined) return null;
    const sources = word.words.map((source) => this.#certain(index, source));
    const [first, second = null] = sources;
    if (first == null || sources.includes(null)) return null;
    for (const { wide } of word.words) this.#loaded.get(wide)!.last = index;
    const quads = first.map((local, q) => [assembledQuad(word.bytes, local, second === null ? null : second[q]!)]);
    return { kind: "vector", ty: "i32", quads };
  }

  #certain(index: number, { wide, word }: LoadedWord): readonly number[] | null {
    const loaded = this.#loaded.get(wide);
    if (loaded === undefined || !loaded.isCertain || index <= loaded.last) return null;
    const locals = loaded.words[word]!;
    return locals.length === this.#chunk.quads ? locals : null;
  }

  #loadOnce(
    index: number,
    access: Access,
    checked: CheckedAccess,
    { wide, at }: WideLoadPart,
    mask: Mask,
  ): Loaded["words"] {
    const { writer, quads } = this.#chunk;
    const before = this.#loaded.get(wide);
    if (before !== undefined && index > before.last) return before.words;
    this.#release(index);
    const words = Array.from({ length: wide.words }, () => Array.from({ length: quads }, () => writer.local("v128")));
    this.#loaded.set(wide, { words, last: index, isCertain: isAlwaysGood(checked) });
    const whole = { ...checked, immediate: checked.immediate - at };
    const record: Access = { ...access, bits: 32, signed: false, count: wide.words, align: 1 };
    const { offsets, immediate } = whole;
    if (offsets.kind === "pattern" && wide.words > 1) this.#moves.loadInPattern(record, offsets, immediate, words);
    else this.#moves.load(record, whole, words, mask);
    return words;
  }

  /** Releases the locals of wide loads that no instruction from one on uses, or of an earlier version of the code. */
  #release(index: number): void {
    for (const [wide, { words, last }] of this.#loaded) {
      if (index > last && index <= this.#ends.get(wide)!) continue;
      for (const local of words.flat()) this.#chunk.writer.release(local);
      this.#loaded.delete(wide);
    }
  }
}

/** Four words, one for each lane, put together from the bytes of one vector or two. */
function assembledQuad(bytes: AssembledWord["bytes"], first: number, second: number | null): Wasm {
  const a = wasm.local("v128", first);
  if (second === null && bytes.every((byte, i) => byte === i)) return a;
  const b = second === null ? wasm.i32x4(0) : wasm.local("v128", second);
  const places = [0, 4, 8, 12].flatMap((lane) =>
    bytes.map((byte) => (byte === null ? 16 : 16 * (byte >> 2) + lane + (byte & 3))),
  );
  return wasm.shuffle(a, b, places);
}
