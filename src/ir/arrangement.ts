/**
 * How the lanes of a warp exchange parts of their registers: each part of a result is a part of some lane's operand.
 */
export interface Arrangement {
  /** Bits of a part; a 32-bit register has as many parts as fit, the lowest first. */
  readonly bits: 8 | 16 | 32;
  /**
   * By result: for each lane and each of its parts, the number of the part that it is, among those of all lanes' first
   * operands, then of the second ones, and so on; -1 gives zeros.
   */
  readonly from: readonly (readonly number[])[];
}

const LANES = 32;

/** The number of a part of a lane's operand among all those of the warp. */
const partNumber = (bits: number, operand: number, lane: number, part: number): number =>
  (operand * LANES + lane) * (32 / bits) + part;

/** A part of an operand of a lane. */
export interface PartSource {
  readonly operand: number;
  readonly lane: number;
  readonly part: number;
}

/** Where the parts of a result of a lane come from; null: it is zeros. */
export function sourcesOf({ bits, from }: Arrangement, result: number, lane: number): readonly (PartSource | null)[] {
  const parts = 32 / bits;
  return from[result]!.slice(lane * parts, (lane + 1) * parts).map((number) => {
    if (number < 0) return null;
    const register = Math.floor(number / parts);
    return { operand: Math.floor(register / LANES), lane: register % LANES, part: number % parts };
  });
}

type Source = readonly [operand: number, lane: number, part: number] | null;

function arrangement(
  bits: Arrangement["bits"],
  results: number,
  source: (result: number, lane: number, part: number) => Source,
): Arrangement {
  const parts = 32 / bits;
  const from = Array.from({ length: results }, (_, result) =>
    Array.from({ length: LANES * parts }, (_, i) => {
      const found = source(result, Math.floor(i / parts), i % parts);
      return found === null ? -1 : partNumber(bits, ...found);
    }),
  );
  return { bits, from };
}

/** Keeps what a function has made for each list of arguments: there are few, and many instructions with the same. */
function remembered<A extends readonly (number | boolean)[]>(make: (...args: A) => Arrangement) {
  const known = new Map<string, Arrangement>();
  return (...args: A): Arrangement => {
    const key = args.join();
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = make(...args)));
    return found;
  };
}

/*
 * The fragment of a matrix of 8 by 8 elements of 16 bits: lane l holds elements 2(l % 4) and 2(l % 4) + 1 of row l / 4
 * (sections 9.7.14.5.15 to 9.7.14.5.17). A row has 16 bytes, four words.
 */

/**
 * ldmatrix of 8 by 8 elements of 16 bits, from the rows, four words in each lane, to the fragments: lane 8j + r has
 * read row r of matrix j.
 */
export const rowsToFragments = remembered((count: number, transposed: boolean) =>
  arrangement(16, count, (matrix, lane, part) => {
    const [row, column] = place(lane, part, transposed);
    return [column >> 1, 8 * matrix + row, column & 1];
  }),
);

/** stmatrix: the inverse of `rowsToFragments`. Lanes without a row get zeros. */
export const fragmentsToRows = remembered((count: number, transposed: boolean) =>
  arrangement(16, 4, (word, lane, part) => {
    const matrix = lane >> 3;
    if (matrix >= count) return null;
    const [r, c] = transposed ? [2 * word + part, lane & 7] : [lane & 7, 2 * word + part];
    return [matrix, 4 * r + (c >> 1), c & 1];
  }),
);

/** movmatrix: the fragment of the transposed matrix. */
export const transposedFragment = remembered(() =>
  arrangement(16, 1, (_, lane, part) => {
    const [row, column] = place(lane, part, true);
    return [0, 4 * row + (column >> 1), column & 1];
  }),
);

/** The row and column of the element of a matrix of which, or of the transposed of which, a lane holds a part. */
function place(lane: number, part: number, transposed: boolean): [row: number, column: number] {
  const [row, column] = [lane >> 2, 2 * (lane & 3) + part];
  return transposed ? [column, row] : [row, column];
}

/**
 * ldmatrix of 8 by 16 elements of 8 bits, without transposing: lane 8j + r has read row r of matrix j, and lane l gets
 * four elements of row l / 4.
 */
export const byteRowsToFragments = remembered((count: number) =>
  arrangement(32, count, (matrix, lane) => [lane & 3, 8 * matrix + (lane >> 2), 0]),
);

/**
 * ldmatrix of 16 by 16 elements of 8 bits, transposed: lane 16j + r has read row r of matrix j. Of the two registers of
 * a matrix the first holds rows 0 to 7 of the transposed matrix, the second rows 8 to 15, each lane four elements.
 */
export const byteColumnsToFragments = remembered((count: number) =>
  arrangement(8, 2 * count, (result, lane, part) => {
    const row = 4 * (lane & 3) + part;
    const column = 8 * (result & 1) + (lane >> 2);
    return [column >> 2, 16 * (result >> 1) + row, column & 3];
  }),
);

/**
 * stmatrix of 16 by 8 elements of 8 bits, transposed: a lane has two elements of row l / 4, then two of the row eight
 * below, as it has of C (CUTLASS, SM100_U8x4_STSM_T); lane 8j + r stores column r of matrix j. Lanes without a column
 * get zeros.
 */
export const byteFragmentsToColumns = remembered((count: number) =>
  arrangement(8, 4, (word, lane, part) => {
    const matrix = lane >> 3;
    if (matrix >= count) return null;
    const [row, column] = [4 * word + part, lane & 7];
    return [matrix, 4 * (row & 7) + (column >> 1), (column & 1) + 2 * (row >> 3)];
  }),
);
