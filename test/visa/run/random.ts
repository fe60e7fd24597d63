import { randomWords } from "../../random-words.ts";

/** A number from 0 to one less than `below`. */
export type Random = (below: number) => number;

/** The same numbers for the same seed. */
export function generator(seed: number): Random {
  const word = randomWords(Math.imul(seed + 1, 0x9e37_79b9));
  return (below) => (word() >>> 0) % below;
}
