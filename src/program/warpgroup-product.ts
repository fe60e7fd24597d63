import {
  chunkAddress,
  chunkBytes,
  depthOf,
  type ElementFormat,
  fragmentOf,
  warpgroupMetadataPlace,
  type SharedMatrixLayout,
  type WarpgroupProduct,
  warpgroupRows,
  warpRows,
} from "../ir/index.ts";
import { addProducts, mask, Matrix, putElement, readFragment, writeFragment } from "./matrix-product.ts";

/** Copies chunks of shared memory, four words each, of which the first `count` addresses are given. */
export type ReadChunks = (addresses: Int32Array, count: number, into: Int32Array) => void;

/** What a warp brings to a product. Registers have a word for each lane, one register after the other. */
export interface WarpgroupInputs {
  /** The number of the warp in its block: of a warpgroup each warp computes its own 16 rows. */
  readonly warp: number;
  /** The registers of A, or the layout in its descriptor. */
  readonly a: Int32Array | SharedMatrixLayout;
  readonly b: SharedMatrixLayout;
  /** The register of the metadata, of a sparse A. */
  readonly metadata: Int32Array | null;
  readonly c: Int32Array;
}

const maxColumns = 256;
const maxDepth = 256;
const left = new Matrix(warpRows * maxDepth);
const right = new Matrix(maxColumns * maxDepth);
const gathered = new Matrix(maxDepth);
const accumulator = new Matrix(warpRows * maxColumns);

/**
 * Computes the rows of a warp of D = A * B + C, into the registers of D.
 *
 * @throws what `read` throws for addresses at which there is no shared memory
 */
export function multiplyInWarpgroup(
  product: WarpgroupProduct,
  { warp, a, b, metadata, c }: WarpgroupInputs,
  read: ReadChunks,
  to: Int32Array,
): void {
  const { tile, negate } = product;
  const { n, k, bits } = tile;
  if (a instanceof Int32Array) readFragment(fragmentOf(tile, "a"), tile.a, a, 0, left, false);
  else {
    const first = (warp * warpRows) % warpgroupRows;
    const kMajor = product.left.kind === "registers" || product.left.kMajor;
    readShared({ layout: a, kMajor, first, count: warpRows, depth: k, bits, format: tile.a }, read, left);
  }
  const depth = depthOf(product);
  readShared({ layout: b, kMajor: product.right.kMajor, first: 0, count: n, depth, bits, format: tile.b }, read, right);
  readFragment(fragmentOf(tile, "c"), tile.c, c, 0, accumulator, false);
  if (negate.a) negateAll(left, warpRows * k);
  if (negate.b) negateAll(right, n * depth);
  for (let row = 0; row < warpRows; row++) {
    left.at = row * k;
    const chosen = metadata === null ? null : present(product, row, metadata);
    for (let column = 0; column < n; column++) {
      right.at = column * depth;
      const cell = row * n + column;
      const other = chosen === null ? right : gather(right, chosen);
      accumulator.values[cell] = addProducts(left, other, k, accumulator.values[cell]!, tile.rule);
    }
  }
  writeFragment(fragmentOf(tile, "d"), tile.d, accumulator.values, to);
}

/** Rows of A or columns of B in shared memory, each with `depth` elements. */
interface SharedLines {
  readonly layout: SharedMatrixLayout;
  readonly kMajor: boolean;
  /** The first row or column, and how many there are; multiples of 8. */
  readonly first: number;
  readonly count: number;
  readonly depth: number;
  readonly bits: number;
  readonly format: ElementFormat;
}

/** The chunks of B: at most 256 columns of 64 bytes. */
const mostChunks = 1024;
const addresses = new Int32Array(mostChunks);
const words = new Int32Array((mostChunks * chunkBytes) / 4);

/** Reads rows or columns, one after the other. */
function readShared(
  { layout, kMajor, first, count, depth, bits, format }: SharedLines,
  read: ReadChunks,
  into: Matrix,
): void {
  const inChunk = (8 * chunkBytes) / bits;
  const inWord = 32 / bits;
  const [lines, along] = kMajor ? [count, depth] : [depth, count];
  // The elements of a chunk are next to each other along k, or along the rows or columns.
  const [lineStep, step] = kMajor ? [depth, 1] : [1, depth];
  const [firstLine, firstChunk] = kMajor ? [first, 0] : [0, first / inChunk];
  const chunks = Math.ceil(along / inChunk);
  for (let line = 0; line < lines; line++) {
    for (let chunk = 0; chunk < chunks; chunk++)
      addresses[line * chunks + chunk] = chunkAddress(layout, kMajor, firstLine + line, firstChunk + chunk);
  }
  read(addresses, lines * chunks, words);
  for (let line = 0; line < lines; line++) {
    for (let i = 0; i < along; i++) {
      const word = words[((line * chunks * inChunk + i) / inWord) | 0]!;
      putElement(into, line * lineStep + i * step, format, (word >>> ((i % inWord) * bits)) & mask(bits));
    }
  }
}

function negateAll({ values }: Matrix, count: number): void {
  for (let i = 0; i < count; i++) values[i] = -values[i]!;
}

const chosenElements = new Int32Array(maxDepth);

/** The elements of a dense row that are present, in their order in the sparse one. */
function present({ tile, sparsity }: WarpgroupProduct, row: number, metadata: Int32Array): Int32Array {
  const { chunk: size, selector } = sparsity!;
  const chunks = (2 * tile.k) / size;
  let at = 0;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const { lane, shift } = warpgroupMetadataPlace(row, chunk, chunks, selector);
    const index = metadata[lane]! >>> shift;
    // Of two elements of 32 bits, the index counts the halves: 1110 is the second one.
    if (size === 2) chosenElements[at++] = 2 * chunk + ((index >> 1) & 1);
    else {
      chosenElements[at++] = 4 * chunk + (index & 3);
      chosenElements[at++] = 4 * chunk + ((index >> 2) & 3);
    }
  }
  return chosenElements.subarray(0, at);
}

/** The elements of a column with which those of a sparse row are multiplied. */
function gather({ at, values, exponents }: Matrix, chosen: Int32Array): Matrix {
  for (let i = 0; i < chosen.length; i++) {
    gathered.values[i] = values[at + chosen[i]!]!;
    gathered.exponents[i] = exponents[at + chosen[i]!]!;
  }
  return gathered;
}
