import { fragmentOf, type MatrixProduct } from "../ir/index.ts";
import { NotAllowed } from "../wasm/index.ts";
import { align, instantiateTile, type TileExports } from "./host-tile.ts";
import { registerBytes } from "./layout.ts";
import { type Tile, tileOf, wideBytes } from "./tile.ts";

/** Registers of the accumulators of a tile. */
const accumulators = 4;

/** The most tiles of a row: 256 columns. */
const mostTiles = 32;

/** Tiles with the same rows of A, one after the other along the columns of B. */
export class TileRow {
  /** The fragment of A; those of B, tile after tile; those of C, and of D: 32 words for each register. */
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly c: Int32Array;
  readonly d: Int32Array;
  readonly #exports: TileExports;
  readonly #left: number;
  readonly #right: number;
  /** Bytes of a fragment of B. */
  readonly #rightBytes: number;

  /** Throws NotAllowed where WebAssembly is not allowed. */
  constructor(tile: Tile, registers: { readonly a: number; readonly b: number }) {
    this.#rightBytes = registers.b * registerBytes;
    const { left, right } = wideBytes(tile);
    const sizes = [
      registers.a * registerBytes,
      mostTiles * this.#rightBytes,
      ...[0, 1].map(() => mostTiles * accumulators * registerBytes),
    ];
    const starts = [0];
    for (const size of [...sizes, left, right]) starts.push(align(starts.at(-1)! + size));
    const { exports, words } = instantiateTile(tile, starts.at(-1)!);
    this.#exports = exports;
    const [a, b, c, d] = sizes.map((size, i) => words.subarray(starts[i]! / 4, (starts[i]! + size) / 4));
    [this.a, this.b, this.c, this.d] = [a!, b!, c!, d!];
    [this.#left, this.#right] = [starts[4]!, starts[5]!];
  }

  /** Multiplies the first tiles. Returns false if it cannot; then D has no meaning. */
  multiply(tiles: number): boolean {
    const { left, right, multiply } = this.#exports;
    left(this.a.byteOffset, this.#left);
    for (let tile = 0; tile < tiles; tile++) {
      right(this.b.byteOffset + tile * this.#rightBytes, this.#right);
      const at = tile * accumulators * registerBytes;
      if (multiply(this.#left, this.#right, this.c.byteOffset + at, this.d.byteOffset + at) !== 0) return false;
    }
    return true;
  }
}

const known = new Map<string, TileRow | null>();

/** The tiles of a product of 16 rows; null if there are none, or where WebAssembly is not allowed. */
export function tileRow(product: MatrixProduct): TileRow | null {
  const part: MatrixProduct = { ...product, n: 8 };
  const tile = tileOf(part);
  if (tile === null) return null;
  const key = JSON.stringify(tile);
  let row = known.get(key);
  if (row !== undefined) return row;
  try {
    row = new TileRow(tile, { a: fragmentOf(part, "a").registers, b: fragmentOf(part, "b").registers });
  } catch (error) {
    if (!(error instanceof NotAllowed)) throw error;
    row = null;
  }
  known.set(key, row);
  return row;
}
