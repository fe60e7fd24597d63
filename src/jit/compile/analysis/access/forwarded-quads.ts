import type { ForwardedWords } from "../../../../ir/index.ts";

/** A register that holds a word, and the lane that does. */
export interface LaneWord {
  readonly register: number;
  readonly lane: number;
}

/** What a quad loads. */
export interface Quad {
  /** Its first lane. */
  readonly first: number;
  /** The lanes that may load, from 0 to 3; of each the registers that hold its word, and its address. */
  readonly lanes: readonly number[];
  readonly holders: readonly (readonly LaneWord[])[];
  readonly addresses: readonly number[];
}

/** A quad of a register, from which lanes may take their words. */
interface Vector {
  readonly register: number;
  readonly quad: number;
}

const isIn = ({ register, quad }: Vector, word: LaneWord): boolean =>
  word.register === register && word.lane >> 2 === quad;

/**
 * Chooses the registers from which lanes take their words: none where it does not pay. Each quad takes them from two
 * vectors at most, which is a shuffle. A vector that serves only one lane costs more than to load its word, unless it
 * is a neighbour of one that serves several; nor can a shuffle be better than one load of words that are neighbours.
 */
export function sourcesOf(quads: readonly Quad[]): Omit<ForwardedWords, "isSettled"> {
  const registers: number[] = [];
  const lanes: ({ source: number; lane: number } | null)[] = quads.flatMap(() => [null, null, null, null]);
  for (const quad of quads) {
    const vectors = vectorsFor(quad);
    quad.lanes.forEach((l, i) => {
      const word = quad.holders[i]!.find((holder) => vectors.some((vector) => isIn(vector, holder)));
      if (word === undefined) return;
      if (!registers.includes(word.register)) registers.push(word.register);
      lanes[quad.first + l] = { source: registers.indexOf(word.register), lane: word.lane };
    });
  }
  return { sources: registers.map((reg) => ({ kind: "reg", reg, ty: "i32" })), lanes };
}

function vectorsFor(quad: Quad): readonly Vector[] {
  const own = ownVector(quad);
  if (own !== null) return [own];
  if (isRun(quad)) return [];
  const best = bestOf(quad.holders);
  if (best === null || best.count < 2) return [];
  const rest = quad.holders.filter((holders) => !holders.some((word) => isIn(best.vector, word)));
  const next = bestOf(rest);
  const isWorth = next !== null && (next.count > 1 || next.vector.register === best.vector.register);
  return isWorth ? [best.vector, next.vector] : [best.vector];
}

/** A register that has the word of each lane in that lane. */
function ownVector({ first, lanes, holders }: Quad): Vector | null {
  const isOwn = ({ register }: LaneWord): boolean =>
    lanes.every((l, i) => holders[i]!.some((word) => word.register === register && word.lane === first + l));
  const found = holders[0]?.findLast(isOwn);
  return found === undefined ? null : { register: found.register, quad: first >> 2 };
}

/** Whether the lanes of a quad load what one vector has, or one word. */
export const isRun = ({ lanes, addresses }: Quad): boolean =>
  [0, 4].some((step) => addresses.every((at, i) => at - addresses[0]! === step * (lanes[i]! - lanes[0]!)));

/** The vector from which most of some lanes can take their words. */
function bestOf(holders: Quad["holders"]): { readonly vector: Vector; readonly count: number } | null {
  let best: { readonly vector: Vector; readonly count: number } | null = null;
  for (const { register, lane } of holders.flat()) {
    const vector = { register, quad: lane >> 2 };
    const count = holders.filter((words) => words.some((word) => isIn(vector, word))).length;
    if (best === null || count > best.count) best = { vector, count };
  }
  return best;
}
