import {
  chunkAddress,
  chunkBytes,
  depthOf,
  type ElementFormat,
  fragmentOf,
  presentColumns,
  sparseShapeOf,
  type SharedMatrixLayout,
  type WarpgroupProduct,
  warpgroupRows,
  warpRows,
} from "../ir/index.ts";
import { mask, Matrix, putElement, readFragment, writeFragment } from "./matrix-product.ts";
import { addProducts } from "./product-sums.ts";
import type { ReadChunks, WarpgroupInputs } from "./warpgroup-inputs.ts";
import { multiplyTiles } from "./warpgroup-tiles.ts";

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
  inputs: WarpgroupInputs,
  read: ReadChunks,
  to: Int32Array,
): void {
  if (!multiplyTiles(product, inputs, read, to)) multiplyElements(product, inputs, read, to);
}

/** The same, element by element: the reference. */
export function multiplyElements(
  product: WarpgroupProduct,
  { warp, a, b, metadata, c }: WarpgroupInputs,
  read: ReadChunks,
  to: Int32Array,
): void {
  const { tile, negate, sparsity } = product;
  const { n, k } = tile;
  if (a instanceof Int32Array) readFragment(fragmentOf(tile, "a"), tile.a, a, 0, left, false);
  else readShared(leftLines(product, warp, a), read, left);
  const depth = depthOf(product);
  readShared(rightLines(product, b), read, right);
  readFragment(fragmentOf(tile, "c"), tile.c, c, 0, accumulator, false);
  if (negate.a) negateAll(left, warpRows * k);
  if (negate.b) negateAll(right, n * depth);
  for (let row = 0; row < warpRows; row++) {
    left.at = row * k;
    const chosen =
      metadata === null || sparsity === null
        ? null
        : presentColumns(sparseShapeOf(product, sparsity), row, (lane) => metadata[lane]!);
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

/** The rows of A that a warp multiplies. */
function leftLines(product: WarpgroupProduct, warp: number, layout: SharedMatrixLayout): SharedLines {
  const { tile, left } = product;
  const kMajor = left.kind === "registers" || left.kMajor;
  const first = (warp * warpRows) % warpgroupRows;
  return { layout, kMajor, first, count: warpRows, depth: tile.k, bits: tile.bits, format: tile.a };
}

function rightLines(product: WarpgroupProduct, layout: SharedMatrixLayout): SharedLines {
  const { tile, right } = product;
  const { n: count, bits, b: format } = tile;
  return { layout, kMajor: right.kMajor, first: 0, count, depth: depthOf(product), bits, format };
}

/**
 * Shows the addresses in shared memory of the chunks that a warp reads for a product: those of A, unless that is in
 * registers (null), and those of B. The addresses are valid during the call.
 */
export function chunksOfProduct(
  product: WarpgroupProduct,
  { warp, a, b }: Pick<WarpgroupInputs, "warp" | "b"> & { readonly a: SharedMatrixLayout | null },
  show: (addresses: Int32Array, count: number) => void,
): void {
  const matrices = [rightLines(product, b)];
  if (a !== null) matrices.unshift(leftLines(product, warp, a));
  for (const lines of matrices) {
    const chunks = findChunks(lines);
    show(addresses, chunks * (lines.kMajor ? lines.count : lines.depth));
  }
}

/** The chunks of B: at most 256 columns of 64 bytes. */
const mostChunks = 1024;
const addresses = new Int32Array(mostChunks);
const words = new Int32Array((mostChunks * chunkBytes) / 4);

/** Finds the addresses of the chunks of rows or columns, line by line. Returns how many a line has. */
function findChunks({ layout, kMajor, first, count, depth, bits }: Omit<SharedLines, "format">): number {
  const inChunk = (8 * chunkBytes) / bits;
  const [lines, along] = kMajor ? [count, depth] : [depth, count];
  const [firstLine, firstChunk] = kMajor ? [first, 0] : [0, first / inChunk];
  const chunks = Math.ceil(along / inChunk);
  for (let line = 0; line < lines; line++) {
    for (let chunk = 0; chunk < chunks; chunk++)
      addresses[line * chunks + chunk] = chunkAddress(layout, kMajor, firstLine + line, firstChunk + chunk);
  }
  return chunks;
}

/** Reads rows or columns, one after the other. */
function readShared(shared: SharedLines, read: ReadChunks, into: Matrix): void {
  const { kMajor, count, depth, bits, format } = shared;
  const inChunk = (8 * chunkBytes) / bits;
  const inWord = 32 / bits;
  const [lines, along] = kMajor ? [count, depth] : [depth, count];
  // The elements of a chunk are next to each other along k, or along the rows or columns.
  const [lineStep, step] = kMajor ? [depth, 1] : [1, depth];
  const chunks = findChunks(shared);
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

/** The elements of a column with which those of a sparse row are multiplied. */
function gather({ at, values, exponents }: Matrix, chosen: readonly number[]): Matrix {
  for (let i = 0; i < chosen.length; i++) {
    gathered.values[i] = values[at + chosen[i]!]!;
    gathered.exponents[i] = exponents[at + chosen[i]!]!;
  }
  return gathered;
}
