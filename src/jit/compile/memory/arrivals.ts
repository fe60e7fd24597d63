import { mbarrierBits } from "../../../ir/mbarrier.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { allBits, laneBits } from "../lanes/mask-bits.ts";
import { both } from "../lanes/scalar.ts";
import { vectorOf } from "../lanes/value.ts";

/** What all lanes of a chunk do that arrive at one mbarrier. */
interface Arrivals {
  /** For how many arrivals each lane counts. */
  readonly arrivals: number;
  /** The byte offset of the mbarrier. */
  readonly place: Wasm;
  /** The local for its word before an arrival. */
  readonly word: number;
  /** The locals for the states that the lanes get; null if nobody wants them. */
  readonly states: readonly number[] | null;
}

const wordBytes = 8;
const pendingBits = 2 ** (mbarrierBits.expected - mbarrierBits.pending) - 1;
/** The mark of an mbarrier, in the highest bits of its word. */
const mark = 2n;

/**
 * Writes the arrivals of a chunk of lanes, in ascending order. All but the last only take theirs from those that are
 * pending, if all lanes of the chunk arrive and so many are pending; `last` writes the arrival of the last lane, before
 * which the word is in its local. Otherwise `eachLane` writes the arrivals one by one.
 */
export function writeArrivals(
  { writer, lanes, quads }: Chunk,
  mask: Mask,
  { arrivals, place, word, states }: Arrivals,
  last: () => void,
  eachLane: () => void,
): void {
  const load = (): void => {
    writer.value(place);
    writer.memory("i64.load", wordBytes);
    writer.set(word);
  };
  if (mask === null) load();
  else {
    // No word of an mbarrier.
    writer.assign([{ local: word, value: wasm.i64(0n) }]);
    writer.value(wasm.op("i32.eq", laneBits(mask), allBits(lanes)));
    writer.if(load);
  }
  const before = wasm.local("i64", word);
  const isMarked = wasm.op("i64.eq", wasm.op("i64.shr_u", before, wasm.i64(BigInt(mbarrierBits.mark))), wasm.i64(mark));
  const pending = wasm.op("i32.and", wasm.op("i32.wrap_i64", before), wasm.i32(pendingBits));
  writer.value(both(isMarked, wasm.op("i32.ge_u", pending, wasm.i32(lanes * arrivals))));
  writer.if(() => {
    const { quads: parts } = vectorOf({ kind: "affine", ty: "i64", base: before, stride: -arrivals }, quads);
    const earlier = wasm.i64(BigInt((lanes - 1) * arrivals));
    writer.assign([
      ...parts.flat().flatMap((value, i) => (states === null ? [] : [{ local: states[i]!, value }])),
      { local: word, value: wasm.op("i64.sub", before, earlier) },
    ]);
    last();
  }, eachLane);
}
