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
  /** The locals of each word; or of each two words of a number of 64 bits, where all lanes load the same. */
  readonly words: readonly (readonly number[])[];
  readonly isUniform: boolean;
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
  /** The wide loads of which words are put together. */
  readonly #inWords: ReadonlySet<WideLoad>;
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
    this.#inWords = new Set([...assembledWords.values()].flatMap(({ words }) => words.map(({ wide }) => wide)));
  }

  /**
   * Whether elements that go to narrow lanes are loaded alone: those of lanes beside each other are a vector as they
   * are, where each four lanes would have a vector of words. Not where words are put together: those are loaded whole.
   */
  areFewerAlone(access: Access, { offsets, wideLoad }: CheckedAccess): boolean {
    const isDense = offsets.kind === "run" && Math.abs(offsets.stride) === access.bits / 8;
    return isDense && !this.#inWords.has(wideLoad!.wide);
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

  /** The same where all lanes load the same, for wide loads of which numbers of 64 bits are put together. */
  loadOne(index: number, access: Access, checked: CheckedAccess, at: Wasm, into: number): void {
    const { writer } = this.#chunk;
    const part = checked.wideLoad!;
    let loaded = this.#loaded.get(part.wide);
    if (loaded?.isUniform !== true || index <= loaded.last) {
      this.#release(index);
      const words = Array.from({ length: part.wide.words / 2 }, () => [writer.local("i64")]);
      words.forEach(([local], i) => {
        writer.value(at);
        writer.memory("i64.load", 1, checked.immediate - part.at + 8 * i);
        writer.set(local!);
      });
      loaded = { words, isUniform: true, last: index, isCertain: isAlwaysGood(checked) };
      this.#loaded.set(part.wide, loaded);
    }
    loaded.last = index;
    const number = wasm.local("i64", loaded.words[part.at >> 3]![0]!);
    const shifted = wasm.op("i64.shr_u", number, wasm.i64(BigInt(8 * (part.at & 7))));
    writer.assign([{ local: into, value: elementOfWord(access, wasm.op("i32.wrap_i64", shifted)) }]);
  }

  /** The value of an instruction that puts a word together, where its bytes have certainly been loaded. */
  assembled(index: number): Value | null {
    const word = this.#assembled.get(index);
    if (word === undefined) return null;
    const [{ wide: only, word: start }] = word.words as [LoadedWord];
    if (this.#loaded.get(only)?.isUniform === true) return this.#assembledOne(index, only, start, word.bytes.length);
    const sources = word.words.map((source) => this.#certain(index, source));
    const [first, second = null] = sources;
    if (first == null || sources.includes(null)) return null;
    for (const { wide } of word.words) this.#loaded.get(wide)!.last = index;
    if (word.bytes.length === 8) {
      const quads = first.map((local, q) => {
        const [low, high] = [local, second![q]!].map((l) => wasm.local("v128", l));
        return [wasm.shuffle32(low!, high!, [0, 4, 1, 5]), wasm.shuffle32(low!, high!, [2, 6, 3, 7])];
      });
      return { kind: "vector", ty: "i64", quads };
    }
    const quads = first.map((local, q) => [assembledQuad(word.bytes, local, second === null ? null : second[q]!)]);
    return { kind: "vector", ty: "i32", quads };
  }

  /** A number of 64 bits that all lanes have loaded as one; null for words, which are computed as the code says. */
  #assembledOne(index: number, wide: WideLoad, word: number, bytes: number): Value | null {
    const loaded = this.#loaded.get(wide)!;
    if (bytes < 8 || word % 2 === 1 || !loaded.isCertain || index <= loaded.last) return null;
    loaded.last = index;
    return { kind: "uniform", ty: "i64", scalar: wasm.local("i64", loaded.words[word / 2]![0]!) };
  }

  #certain(index: number, { wide, word }: LoadedWord): readonly number[] | null {
    const loaded = this.#loaded.get(wide);
    if (loaded === undefined || loaded.isUniform || !loaded.isCertain || index <= loaded.last) return null;
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
    if (before?.isUniform === false && index > before.last) return before.words;
    this.#release(index);
    const words = Array.from({ length: wide.words }, () => Array.from({ length: quads }, () => writer.local("v128")));
    this.#loaded.set(wide, { words, isUniform: false, last: index, isCertain: isAlwaysGood(checked) });
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

/** An element, extended to a word, out of the low bits of one. */
function elementOfWord({ bits, signed }: Access, word: Wasm): Wasm {
  if (bits === 32) return word;
  if (signed) return wasm.op(bits === 8 ? "i32.extend8_s" : "i32.extend16_s", word);
  return wasm.op("i32.and", word, wasm.i32(bits === 8 ? 0xff : 0xffff));
}
