import type { TensorMode } from "../../ir/index.ts";
import { pixelsOf } from "./im2col.ts";
import { elementBits, isPadded, sharedBytes, sliceBytes } from "./element.ts";
import type { TensorMap } from "./tensor-map.ts";

/** Which elements an instruction names. */
export interface BoxRequest {
  readonly mode: TensorMode;
  /** By dimension, the fastest first; for gather4 and scatter4 the column and four rows. */
  readonly coordinates: readonly number[];
  /** The offsets of im2col; halo and offset of im2col::w. */
  readonly info: readonly number[];
}

/** Bytes that lie next to each other in the tensor and in the box. */
export interface BoxRun {
  /** The byte of the box, before swizzling. */
  readonly at: number;
  /** In shared memory; in the tensor they are fewer if elements are padded. */
  readonly bytes: number;
  /** The byte of the tensor from its address on; null outside, where elements are filled in. */
  readonly from: number | null;
}

export interface Box {
  /** In shared memory. */
  readonly bytes: number;
  /** Those of them that count as transactions of an mbarrier: all but padding. */
  readonly transactions: number;
  readonly runs: readonly BoxRun[];
}

/** A row of neighbours in dimension 0: where it begins in the tensor without dimension 0, or null outside. */
type Row = number | null;

/** Why an instruction cannot use a valid tensor map in this way, or null if it can. */
export function requestProblem(map: TensorMap, { mode, coordinates }: BoxRequest, rank: number): string | null {
  const { box, globalDim, interleave } = map;
  if (globalDim.length !== rank) return `has rank ${globalDim.length}, but the instruction copies ${rank} dimensions`;
  const wanted = mode.startsWith("tile") ? "tiled" : mode === "im2col" ? "im2col" : "im2col::w";
  // A map for im2col has what im2col::w needs.
  if (box.mode !== wanted && !(wanted === "im2col::w" && box.mode === "im2col")) {
    return `is for ${box.mode} accesses, but the instruction's are ${wanted}`;
  }
  if (mode === "tile::gather4" || mode === "tile::scatter4") {
    if (rank !== 2) return `has rank ${rank}, but ${mode} needs 2`;
    if (box.mode === "tiled" && box.size[1] !== 1) return `has boxes of ${box.size[1]} rows, but ${mode} needs 1`;
  }
  const perSlice = interleave === "none" ? 1 : (8 * sliceBytes[interleave]) / elementBits(map.type);
  const multiple = isPadded(map.type) ? 128 : map.type === "16u4_align8b" ? 2 : perSlice;
  return coordinates[0]! % multiple === 0
    ? null
    : `needs a first coordinate that is a multiple of ${multiple}, not ${coordinates[0]}`;
}

/** The elements of a box, in the order of shared memory. Map and request have no problem. */
export function boxOf(map: TensorMap, request: BoxRequest): Box {
  const rows = rowsOf(map, request);
  const count = innerCount(map);
  const first = request.coordinates[0]!;
  const runs: BoxRun[] = [];
  const bytes =
    map.interleave === "none" ? denseRuns(map, rows, first, count, runs) : slicedRuns(map, rows, first, count, runs);
  const transactions = isPadded(map.type) ? (rows.length * count * elementBits(map.type)) / 8 : bytes;
  return { bytes, transactions, runs };
}

const innerCount = ({ box }: TensorMap): number => (box.mode === "tiled" ? box.size[0]! : box.channels);

/** The rows of the box, in order, without dimension 0. */
function rowsOf(map: TensorMap, request: BoxRequest): Row[] {
  const { box } = map;
  if (box.mode !== "tiled") return pixelsOf(map, box, request).map((pixel) => rowOfPixel(map, pixel));
  const { mode, coordinates } = request;
  if (mode === "tile::gather4" || mode === "tile::scatter4") {
    return coordinates.slice(1, 5).map((row) => rowAt(map, 1, row));
  }
  let rows: Row[] = [0];
  for (let d = 1; d < map.globalDim.length; d++) {
    const [inner, stride] = [rows, map.elementStrides[d]!];
    rows = [];
    for (let i = 0; i < box.size[d]!; i += stride) {
      const further = rowAt(map, d, coordinates[d]! + i);
      for (const row of inner) rows.push(row === null || further === null ? null : row + further);
    }
  }
  return rows;
}

/** How far the elements at a coordinate of a dimension from 1 on are from those at 0; null outside. */
const rowAt = ({ globalDim, globalStrides }: TensorMap, dimension: number, coordinate: number): Row =>
  coordinate < 0 || coordinate >= globalDim[dimension]! ? null : coordinate * globalStrides[dimension - 1]!;

/** The row of a pixel, by its coordinates in dimension 1 and up. */
const rowOfPixel = (map: TensorMap, pixel: readonly number[]): Row =>
  pixel.reduce<Row>((row, coordinate, i) => {
    const further = rowAt(map, i + 1, coordinate);
    return row === null || further === null ? null : row + further;
  }, 0);

/** Rows of elements that are next to each other. Returns the bytes of the box. */
function denseRuns(map: TensorMap, rows: readonly Row[], first: number, count: number, runs: BoxRun[]): number {
  const { type, globalDim } = map;
  const rowBytes = sharedBytes(type, count);
  const inside = clip(first, count, globalDim[0]!);
  rows.forEach((row, i) => {
    cut(map, { at: i * rowBytes, row, first, count, inside }, runs);
  });
  return rows.length * rowBytes;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Which of `count` elements from `first` on are in a dimension. */
const clip = (first: number, count: number, size: number): Span => {
  const from = Math.min(count, Math.max(0, -first));
  return { from, to: Math.max(from, Math.min(count, size - first)) };
};

interface RowPart {
  readonly at: number;
  readonly row: Row;
  /** The coordinate of the first element in dimension 0, which decides where it is in the row. */
  readonly first: number;
  readonly count: number;
  readonly inside: Span;
}

/** Adds the runs of neighbours: those before the tensor, those in it, those after it. */
function cut({ type }: TensorMap, { at, row, first, count, inside }: RowPart, runs: BoxRun[]): void {
  const bits = elementBits(type);
  const ends = row === null ? [count] : [inside.from, inside.to, count];
  let from = 0;
  for (let part = 0; part < ends.length; part++) {
    const to = ends[part]!;
    if (from >= to) continue;
    const start = row !== null && part === 1 ? row + ((first + from) * bits) / 8 : null;
    runs.push({ at: at + sharedBytes(type, from), bytes: sharedBytes(type, to - from), from: start });
    from = to;
  }
}

/**
 * Rows of slices (NC/8DHWC8, NC/16DHWC16; section 5.5.6). In the tensor, slices follow each other after all elements of
 * the spatial dimensions; so they do in each image of the box.
 */
function slicedRuns(map: TensorMap, rows: readonly Row[], first: number, count: number, runs: BoxRun[]): number {
  const { type, globalDim, globalStrides, interleave, box, elementStrides } = map;
  const bytes = sliceBytes[interleave];
  const perSlice = (8 * bytes) / elementBits(type);
  const slices = Math.ceil(count / perSlice);
  const rank = globalDim.length;
  const sliceStride = globalStrides[rank - 3]! * globalDim[rank - 2]!;
  const images = box.mode === "tiled" ? Math.ceil(box.size[rank - 1]! / elementStrides[rank - 1]!) : 1;
  const perImage = rows.length / images;
  rows.forEach((row, i) => {
    for (let slice = 0; slice < slices; slice++) {
      const number = first / perSlice + slice;
      const place = (Math.floor(i / perImage) * slices + slice) * perImage + (i % perImage);
      const channels = Math.min(perSlice, count - slice * perSlice);
      const start = row === null ? null : row + number * sliceStride;
      const inside = clip(first + slice * perSlice, channels, globalDim[0]!);
      cut(map, { at: place * bytes, row: start, first: 0, count: channels, inside }, runs);
      // The last slice is whole in shared memory.
      if (channels < perSlice) {
        const at = place * bytes + sharedBytes(type, channels);
        runs.push({ at, bytes: bytes - sharedBytes(type, channels), from: null });
      }
    }
  });
  return rows.length * slices * bytes;
}
