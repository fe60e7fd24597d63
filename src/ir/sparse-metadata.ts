/*
 * A sparse matrix A of a product (section 9.7.14.6.1): of each chunk of a row half of the elements are present. Four
 * bits of metadata, two indices of two bits, say which two quarters of a chunk they are; of a chunk of two elements
 * each index counts halves of elements, of which two follow each other. Metadata is in lanes of each quad, which the
 * sparsity selector names. The manual has its layout only in figures (119 to 147). What is here agrees with how CUTLASS
 * orders metadata for elements of 16 bits and for k = 64 of 8 bits; for k = 32 of 8 and k = 64 of 4 bits it is inferred
 * from the larger shapes.
 */

/** Which elements of A are present. */
export interface Sparsity {
  /** Elements of a chunk. */
  readonly chunk: 2 | 4 | 8;
  /** The operand `f`: the lanes of a quad that have metadata, where not all have. */
  readonly selector: number;
}

/** Where the four bits of a chunk are. */
export interface MetadataPlace {
  readonly lane: number;
  /** The lowest of the four bits. */
  readonly bit: number;
}

/** Of a product: its k, the bits of an element of A, and what is present. */
export interface SparseShape {
  readonly k: number;
  readonly bits: number;
  readonly sparsity: Sparsity;
}

/** Lanes of a quad that have metadata for it. */
export const metadataLanes = ({ k, bits, sparsity: { chunk } }: SparseShape): 1 | 2 | 4 =>
  (((k / chunk) * (bits >= 16 ? 1 : 2)) / (bits >= 16 ? 4 : 8)) as 1 | 2 | 4;

/** The first lane of a quad that has metadata. */
export const firstMetadataLane = (shape: SparseShape): number => {
  const lanes = metadataLanes(shape);
  return (shape.sparsity.selector * lanes) % 4;
};

/**
 * Where the metadata of a chunk of a row is. Elements of 16 and 32 bits: a lane has four chunks of a row, and above
 * them those of the row eight below. Smaller ones: it has eight chunks of a row, the next lane those of the row eight
 * below.
 */
export function metadataPlace(shape: SparseShape, row: number, chunk: number): MetadataPlace {
  const first = 4 * (row % 8) + firstMetadataLane(shape);
  return shape.bits >= 16
    ? { lane: first + (chunk >> 2), bit: 4 * (chunk & 3) + (row < 8 ? 0 : 16) }
    : { lane: first + 2 * (chunk >> 3) + (row < 8 ? 0 : 1), bit: 4 * (chunk & 7) };
}

/** The lanes that have metadata of a row. */
export const lanesOfMetadata = (shape: SparseShape, row: number): readonly number[] => [
  ...new Set(
    Array.from({ length: shape.k / shape.sparsity.chunk }, (_, chunk) => metadataPlace(shape, row, chunk).lane),
  ),
];

/**
 * The columns of A, k of them, in which the elements of a row are that are present. `word`: the metadata of a lane.
 */
export function presentColumns(shape: SparseShape, row: number, word: (lane: number) => number): number[] {
  const { chunk } = shape.sparsity;
  const found: number[] = [];
  for (let at = 0; at < shape.k; at += chunk) {
    const { lane, bit } = metadataPlace(shape, row, at / chunk);
    const indices = word(lane) >>> bit;
    if (chunk === 2) found.push(at + ((indices >> 1) & 1));
    else {
      const quarter = chunk / 4;
      for (const index of [indices & 3, (indices >> 2) & 3]) {
        for (let i = 0; i < quarter; i++) found.push(at + index * quarter + i);
      }
    }
  }
  return found;
}
