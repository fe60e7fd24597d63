/** A number from 0 to one less than `below`. */
export type Random = (below: number) => number;

/** xorshift32: the same numbers for the same seed. */
export function generator(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e37_79b9) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
