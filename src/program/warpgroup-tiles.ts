import {
  chunkAddress,
  chunkBytes,
  type SharedMatrixLayout,
  type WarpgroupProduct,
  warpgroupRows,
  warpRows,
} from "../ir/index.ts";
import { flippedSigns, type TileRow, tileRow } from "../tiles/index.ts";
import type { ReadChunks, WarpgroupInputs } from "./warpgroup-inputs.ts";

/*
 * Products of warpgroups as rows of tiles. The fragments of a tile have for each eight rows or columns, and each 16
 * bytes of these along k, a register of the warp: the same bytes as eight chunks of shared memory, one after the other,
 * in K-major order.
 */

/** Products with how often each has been computed, and their tiles. */
const rows = new WeakMap<WarpgroupProduct, { row: TileRow | null; columns: number }>();

/** Columns that are computed element by element before tiles are compiled, which takes as long as some hundreds. */
const fewColumns = 512;

/** Computes a product by tiles, into the registers of D. Returns false if it cannot; then these have no meaning. */
export function multiplyTiles(
  product: WarpgroupProduct,
  inputs: WarpgroupInputs,
  read: ReadChunks,
  to: Int32Array,
): boolean {
  const { tile, left, right, negate, sparsity } = product;
  if (sparsity !== null) return false;
  let found = rows.get(product);
  if (found === undefined) rows.set(product, (found = { row: null, columns: 0 }));
  if (found.columns < fewColumns) {
    found.columns += tile.n;
    if (found.columns >= fewColumns) found.row = tileRow(tile);
  }
  const { row } = found;
  if (row === null) return false;
  const { a, b, c, warp } = inputs;
  const chunks = (tile.k * tile.bits) / (8 * chunkBytes);
  if (a instanceof Int32Array) row.a.set(a.subarray(0, row.a.length));
  else {
    const kMajor = left.kind === "registers" || left.kMajor;
    readGroups(
      { layout: a, kMajor, first: (warp * warpRows) % warpgroupRows, count: warpRows, chunks },
      read,
      chunksOfA,
    );
    // Registers of the lower eight rows and of the upper ones take turns.
    for (let group = 0; group < 2; group++)
      for (let chunk = 0; chunk < chunks; chunk++)
        copyGroup(chunksOfA, group * chunks + chunk, row.a, 2 * chunk + group);
  }
  readGroups({ layout: b, kMajor: right.kMajor, first: 0, count: tile.n, chunks }, read, row.b);
  if (negate.a !== negate.b) flipSigns(row.a, flippedSigns(product));
  row.c.set(c.subarray(0, registerWords * (tile.n / 2)));
  if (!row.multiply(tile.n / 8)) return false;
  to.set(row.d.subarray(0, registerWords * (tile.n / 2)));
  return true;
}

/** Words of a register of a warp, and of eight chunks. */
const registerWords = 32;

/** Rows of A or columns of B in shared memory: multiples of 8, with a number of chunks along k. */
interface Lines {
  readonly layout: SharedMatrixLayout;
  readonly kMajor: boolean;
  readonly first: number;
  readonly count: number;
  readonly chunks: number;
}

/** The chunks of A, and those of an MN-major matrix as they are in memory. */
const chunksOfA = new Int32Array(64 * 4);
const turned = new Int32Array(1024 * 4);
const turnedHalves = new Uint16Array(turned.buffer);

/** Reads lines: of each eight, and of each chunk of these, the eight chunks one after the other. */
function readGroups(lines: Lines, read: ReadChunks, into: Int32Array): void {
  const addresses = addressesOf(lines);
  const at = addresses.length;
  if (lines.kMajor) {
    read(addresses, at, into);
    return;
  }
  read(addresses, at, turned);
  const halves = new Uint16Array(into.buffer, into.byteOffset, into.length * 2);
  for (let group = 0; group < 8 * at; group += 64)
    for (let k = 0; k < 8; k++)
      for (let line = 0; line < 8; line++) halves[group + 8 * line + k] = turnedHalves[group + 8 * k + line]!;
}

/** Addresses of lines that have been read before: a kernel goes through few places again and again. */
const knownAddresses = new Map<string, Int32Array>();
const mostKnown = 512;

/** Of each eight lines, and of each chunk of these, the addresses of eight chunks. */
function addressesOf({ layout, kMajor, first, count, chunks }: Lines): Int32Array {
  const { start, leading, stride, width, baseOffset, grain } = layout;
  const key = [start, leading, stride, width, baseOffset, grain, kMajor, first, count, chunks].join();
  let found = knownAddresses.get(key);
  if (found !== undefined) return found;
  found = new Int32Array(count * chunks);
  let at = 0;
  for (let line = first; line < first + count; line += 8) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      for (let i = 0; i < 8; i++) {
        // A chunk of an MN-major matrix has the eight lines at one k.
        found[at++] = kMajor
          ? chunkAddress(layout, true, line + i, chunk)
          : chunkAddress(layout, false, 8 * chunk + i, line >> 3);
      }
    }
  }
  if (knownAddresses.size >= mostKnown) knownAddresses.clear();
  knownAddresses.set(key, found);
  return found;
}

function copyGroup(from: Int32Array, group: number, to: Int32Array, register: number): void {
  to.set(from.subarray(registerWords * group, registerWords * (group + 1)), registerWords * register);
}

function flipSigns(fragment: Int32Array, mask: number): void {
  for (let i = 0; i < fragment.length; i++) fragment[i]! ^= mask;
}
