import type { Access } from "../../../ir/index.ts";
import { wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { narrow, type Narrow, narrowed, widened, type NarrowBits } from "../lanes/narrow.ts";
import type { AccessOffsets } from "./lane-offsets.ts";
import { loadNarrowLanes } from "./narrow-moves.ts";
import type { VectorMoves } from "./vector-moves.ts";

/** Moves elements of 8 and 16 bits from and to narrow lanes: runs of them as they are, others as words. */
export class NarrowAccesses {
  readonly #chunk: Chunk;
  readonly #moves: VectorMoves;

  constructor(chunk: Chunk, moves: VectorMoves) {
    this.#chunk = chunk;
    this.#moves = moves;
  }

  /** Whether the elements that an access moves are those of narrow lanes. */
  isOne({ bits, count }: Access, value: { readonly bits: NarrowBits } | null): boolean {
    return count === 1 && value !== null && value.bits === bits;
  }

  load(access: Access, where: AccessOffsets, into: readonly number[], mask: Mask): void {
    const { offsets, immediate } = where;
    const { writer, lanes } = this.#chunk;
    const isRun = offsets.kind === "run" && Math.abs(offsets.stride) === access.bits / 8;
    if (isRun && mask === null && !this.#moves.scalars.isStrong(access))
      loadNarrowLanes(writer, access, { ...offsets, immediate }, into, lanes);
    else this.asWords(access, into, (words) => this.#moves.load(access, where, [words], mask));
  }

  /** Loads what `load` loads as words. */
  asWords({ bits, signed }: Access, into: readonly number[], load: (words: readonly number[]) => void): void {
    const { writer, quads } = this.#chunk;
    const words = Array.from({ length: quads }, () => writer.cleared("v128"));
    load(words);
    const values = words.map((local) => wasm.local("v128", local));
    const { parts } = narrowed(values, bits as NarrowBits, signed ? "signed" : "unsigned");
    writer.assign(into.map((local, i) => ({ local, value: parts[i]! })));
    for (const local of words) writer.release(local);
  }

  /** What locals hold, as words in other locals, for stores that keep only the low bits. */
  words({ bits }: Access, from: readonly number[]): { readonly list: readonly number[]; readonly release: () => void } {
    const { writer, quads } = this.#chunk;
    const list = Array.from({ length: quads }, () => writer.local("v128"));
    const quadsOf = widened(inLocals(bits as NarrowBits, from), { signed: false, of: 32 }, quads);
    writer.assign(list.map((local, q) => ({ local, value: quadsOf[q]![0]! })));
    const release = (): void => {
      for (const local of list) writer.release(local);
    };
    return { list, release };
  }
}

export const inLocals = (bits: NarrowBits, locals: readonly number[]): Narrow =>
  narrow(
    bits,
    locals.map((local) => wasm.local("v128", local)),
  );
