/** Rows of A of a tile, which has eight columns of B. */
const tileRows = 16;

/** Rows are multiplied in pairs, row r together with row r + 8. */
export const pairs = tileRows / 2;

/**
 * Where the columns of a tile lie in vectors: the even ones in the first vector, the odd ones in the second, as a lane
 * of an accumulator's fragment has two adjacent columns in two registers.
 */
export const columnOrder = [0, 2, 4, 6, 1, 3, 5, 7] as const;

/** Bytes of a register of all 32 lanes. */
export const registerBytes = 128;

/** Bytes of the factors of a pair's sums: two vectors for each four sums. */
export const factorBytes = 4 * 32;

/**
 * Bytes of A after it has been widened for a product of floats: for each pair of rows, k numbers of the first row, k of
 * the second, and for each k a vector with eight times the exponent of the first row, and that of the second. Then
 * `facts`, and room for the factors of a product's sums.
 */
export const leftLayout = (k: number) => {
  const exponents = 2 * k * 4;
  const pair = exponents + 16 * k;
  const factors = pairs * pair + 16;
  return { row: k * 4, exponents, pair, facts: pairs * pair, factors, bytes: factors + pairs * factorBytes } as const;
};

/**
 * The same of B: for each k the numbers of the even columns, of the odd ones, and twice the exponents of all eight, one
 * byte each. Then `facts`.
 */
export const rightLayout = (k: number) => {
  const step = 48;
  return { step, exponents: 32, facts: step * k, bytes: step * k + 16 } as const;
};

/** Words that tell what all elements of a matrix have in common. */
export const facts = {
  /** Not 0 if there are elements that products cannot take. */
  problems: 0,
  /** All elements are multiples of 2^`unit`, and less than 2^`limit`. */
  unit: 4,
  limit: 8,
} as const;

/** Bytes of A, for a pair of rows, and of B, for two k's, after they have been widened for a product of integers. */
export const integerLayout = (k: number) => ({
  left: { row: k * 2, pair: k * 4, bytes: pairs * k * 4 },
  right: { step: 32, bytes: 16 * k },
});
