/** The places of two elements among four, in which a sparse matrix keeps what is not zero. */
export const pairsOfFour = [
  [0, 1],
  [0, 2],
  [0, 3],
  [1, 2],
  [1, 3],
  [2, 3],
] as const;
