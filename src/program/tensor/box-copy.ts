import type { ReducedType, Reduction, TensorSwizzle, TensorType } from "../../ir/index.ts";
import type { Box, BoxRun } from "./box.ts";
import type { Views } from "../../machine/memory/views.ts";
import { elementBits, isPadded } from "./element.ts";
import { reduceBytes } from "./reduction.ts";
import { swizzled, swizzlePatterns } from "./swizzle.ts";
import type { TensorMap } from "./tensor-map.ts";

/** The memory between which a box is copied. */
export interface BoxPlaces {
  /** The address of the box in shared memory, a multiple of 128. */
  readonly address: number;
  /** Shared memory from that address on: `boxExtent` bytes. */
  readonly shared: Uint8Array;
  /**
   * Where the bytes of the tensor begin that each run of the box takes, null for those outside; or, where all lie in
   * one piece of memory, its byte from which runs count.
   */
  readonly tensor: TensorPlace | readonly (TensorPlace | null)[];
}

/** A byte of memory, which can be seen as bytes and as words. */
interface TensorPlace {
  readonly views: Pick<Views, "u8" | "i32">;
  readonly at: number;
}

/** The bytes of the tensor that a run takes, the box's `index`-th: one that is not outside. */
function tensorPart({ type }: TensorMap, { tensor }: BoxPlaces, run: BoxRun, index: number): Uint8Array {
  const { views, at: from } = "views" in tensor ? tensor : tensor[index]!;
  const at = "views" in tensor ? from + run.from! : from;
  return views.u8.subarray(at, at + tensorBytes(type, run));
}

/** The bytes of shared memory that a box of `bytes` uses: swizzling may move some of an incomplete last line. */
export function boxExtent(swizzle: TensorSwizzle, address: number, bytes: number): number {
  let end = bytes;
  for (let at = bytes - (bytes % 128); at < bytes; at += 16) {
    end = Math.max(end, (swizzled(swizzle, address + at) & ~15) - address + 16);
  }
  return end;
}

/** Bytes of the tensor that a run takes. */
export const tensorBytes = (type: TensorType, { bytes }: BoxRun): number =>
  isPadded(type) ? (bytes * elementBits(type)) / 8 : bytes;

/** Copies a box from the tensor to shared memory. */
export function loadBox(map: TensorMap, box: Box, places: BoxPlaces): void {
  if (!loadWords(map, box, places)) loadBytes(map, box, places);
}

/**
 * The same for the usual box, whose chunks of 16 bytes are whole and stay as they are, out of one piece of memory.
 * Returns false for others.
 */
function loadWords({ type, swizzle }: TensorMap, { runs }: Box, { address, shared, tensor }: BoxPlaces): boolean {
  if (isPadded(type) || isTf32(type) || !("views" in tensor)) return false;
  for (const { at, bytes, from } of runs) {
    if (from === null || ((at | bytes) & 15) !== 0 || ((tensor.at + from) & 3) !== 0) return false;
  }
  const into = wordsOf(shared);
  const from = tensor.views.i32;
  const order = swizzledPairs(swizzle);
  const start = address >>> 2;
  const firstPair = (address + (runs[0]?.at ?? 0)) >>> 3;
  // The copy's first word, which is written over at once.
  into[2 * firstPair + order[firstPair & pairMask]! - start] = wordsOfLines(runs, from, tensor.at);
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i]!;
    let word = (tensor.at + run.from!) >>> 2;
    const first = (address + run.at) >>> 3;
    const end = first + (run.bytes >>> 3);
    for (let pair = first; pair < end; pair += 2) {
      const place = 2 * pair + order[pair & pairMask]! - start;
      const next = 2 * pair + order[(pair + 1) & pairMask]! - start;
      into[place] = from[word]!;
      into[place + 1] = from[word + 1]!;
      into[next + 2] = from[word + 2]!;
      into[next + 3] = from[word + 3]!;
      word += 4;
    }
  }
  return true;
}

/** Bytes of a line of the processor's caches. */
const lineBytes = 64;

/**
 * Reads a word of each line that the runs take, `at` bytes after the beginning of `from`, so that lines which are in no
 * cache come at the same time and not one after the other. Returns what was read, for no use but that it is read.
 */
function wordsOfLines(runs: readonly BoxRun[], from: Int32Array, at: number): number {
  let read = 0;
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i]!;
    const first = (at + run.from!) >>> 2;
    const end = first + (run.bytes >>> 2);
    for (let word = first; word < end; word += lineBytes / 4) read ^= from[word]!;
  }
  return read;
}

/** Bytes of shared memory after which the pattern of every swizzle begins again; pairs of words, less 1. */
const swizzlePeriod = 1024;
const pairMask = swizzlePeriod / 8 - 1;
const orders = new Map<TensorSwizzle, Int32Array>();

/** For each pair of words of a period, by how many words it is moved. Every swizzle leaves pairs together. */
function swizzledPairs(swizzle: TensorSwizzle): Int32Array {
  let order = orders.get(swizzle);
  if (order === undefined) {
    order = Int32Array.from({ length: swizzlePeriod / 8 }, (_, i) => (swizzled(swizzle, 8 * i) >>> 2) - 2 * i);
    orders.set(swizzle, order);
  }
  return order;
}

const isTf32 = (type: TensorType): boolean => type === "tf32" || type === "tf32ftz";

function loadBytes(map: TensorMap, box: Box, places: BoxPlaces): void {
  const { type } = map;
  const dense = map.swizzle === "none" ? places.shared : new Uint8Array(box.bytes);
  for (const [i, run] of box.runs.entries()) {
    const into = dense.subarray(run.at, run.at + run.bytes);
    if (run.from === null) fill(map, into);
    else if (isPadded(type)) pad(into, tensorPart(map, places, run, i), (16 * elementBits(type)) / 8);
    else {
      into.set(tensorPart(map, places, run, i));
      if (isTf32(type)) roundToTf32(into);
    }
  }
  if (dense !== places.shared) exchange(map.swizzle, places, dense, "to-shared");
}

/** Copies a box from shared memory to the tensor, or reduces it into the tensor; nothing is written outside. */
export function storeBox(
  map: TensorMap,
  box: Box,
  places: BoxPlaces,
  reduction: { readonly op: Reduction; readonly type: ReducedType } | null,
): void {
  const { type } = map;
  const dense = denseBox(map, box, places);
  for (const [i, run] of box.runs.entries()) {
    if (run.from === null) continue;
    const into = tensorPart(map, places, run, i);
    const from = dense.subarray(run.at, run.at + run.bytes);
    if (reduction !== null) reduceBytes(reduction.op, reduction.type, into, from);
    else if (isPadded(type)) packSixBits(into, from);
    else into.set(from);
  }
}

/** A box as it is without swizzling: in place, or a copy. */
export function denseBox({ swizzle }: TensorMap, box: Box, places: Pick<BoxPlaces, "address" | "shared">): Uint8Array {
  if (swizzle === "none") return places.shared;
  const dense = new Uint8Array(box.bytes);
  exchange(swizzle, places, dense, "to-dense");
  return dense;
}

/** Moves a box between its swizzled place in shared memory and a dense copy, an atom or 16 bytes at a time. */
function exchange(
  swizzle: TensorSwizzle,
  places: Pick<BoxPlaces, "address" | "shared">,
  dense: Uint8Array,
  to: "to-shared" | "to-dense",
): void {
  const { address } = places;
  const [shared, copy] = [wordsOf(places.shared), wordsOf(dense)];
  const step = Math.min(16, swizzlePatterns[swizzle].atom) / 4;
  for (let at = 0; at < copy.length; at += step) {
    const place = (swizzled(swizzle, address + 4 * at) - address) >> 2;
    for (let i = 0; i < step; i++) {
      if (to === "to-shared") shared[place + i] = copy[at + i]!;
      else copy[at + i] = shared[place + i]!;
    }
  }
}

/** The same memory as words: boxes begin at multiples of 128 bytes and have multiples of 16. */
const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Int32Array =>
  new Int32Array(buffer, byteOffset, length / 4);

/**
 * Fills elements outside the tensor. The NaN is the one that H100 GPUs write: 0x7ff7 in every 16 bits. No manual says
 * so; the public tests of the Ventus project measured it.
 */
function fill({ oobFill }: TensorMap, into: Uint8Array): void {
  if (oobFill === "none") into.fill(0);
  else for (let i = 0; i < into.length; i++) into[i] = i % 2 === 0 ? 0xf7 : 0x7f;
}

/** Sixteen elements at a time, followed by zeros: padding, which the manual leaves open. */
function pad(into: Uint8Array, from: Uint8Array, bytes: number): void {
  for (let at = 0, group = 0; at < into.length; at += 16, group += bytes) {
    into.fill(0, at, at + 16);
    into.set(from.subarray(group, group + bytes), at);
  }
}

/** Packs elements that have a byte each, of which the low 6 bits count (`.b6p2x16`). */
function packSixBits(into: Uint8Array, from: Uint8Array): void {
  for (let at = 0, to = 0; at < from.length; at += 4, to += 3) {
    const bits =
      (from[at]! & 63) | ((from[at + 1]! & 63) << 6) | ((from[at + 2]! & 63) << 12) | ((from[at + 3]! & 63) << 18);
    into[to] = bits;
    into[to + 1] = bits >>> 8;
    into[to + 2] = bits >>> 16;
  }
}

/** Rounds elements to tf32, ties away from zero, as H100 GPUs do (measured by the same tests). */
function roundToTf32(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += 4) {
    const bits = view.getUint32(at, true);
    const exponent = bits & 0x7f80_0000;
    const isNotANumber = exponent === 0x7f80_0000 && (bits & 0x007f_ffff) !== 0;
    if (exponent !== 0x7f80_0000) view.setUint32(at, (bits + 0x1000) & ~0x1fff, true);
    else if (isNotANumber) view.setUint32(at, 0x7fff_e000, true);
  }
}
