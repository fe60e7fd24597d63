/** xorshift32: words that are the same for the same seed, as signed integers. */
export function randomWords(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state | 0;
  };
}
