import { windows } from "../../ir/index.ts";
import type { LaunchRequest, ShadowRange } from "../../machine/launch.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import { clusterSize } from "../../machine/state/cluster.ts";
import { clusterScalars } from "../../machine/state/specials.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { headerWord, recordBytes, tidBytes } from "../abi/context-layout.ts";
import { extentHeader, extentHeaderBytes } from "../abi/extent-table.ts";
import { type ExtentTable, writeEntry } from "./extent-tables.ts";

/** The contexts in a device's memory. Those that are free are kept for later launches, by size. */
export class Contexts {
  readonly #memory: DeviceMemory;
  readonly #free = new Map<number, number[]>();

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** Throws a RangeError when the memory is exhausted. */
  take(bytes: number): number {
    return this.#free.get(bytes)?.pop() ?? this.#memory.reserve(bytes);
  }

  giveBack(bytes: number, contexts: readonly number[]): void {
    const free = this.#free.get(bytes);
    if (free === undefined) this.#free.set(bytes, [...contexts]);
    else free.push(...contexts);
  }
}

export const contextBytes = ({ layout }: CompiledKernel, sharedBytes: number): number => layout.shared + sharedBytes;

/** Bytes of all contexts of a launch together, at most. */
const maxContextBytes = 2 ** 29;

/** Blocks for which there is room at the same time. `sharedBytes`: of a block. */
export const mostContexts = (kernel: CompiledKernel, sharedBytes: number): number =>
  Math.floor(maxContextBytes / contextBytes(kernel, sharedBytes));

/**
 * Rounds in which the chunks of a block only yield, after which it is the turn of other blocks. Most loops that could
 * wait for other blocks do not; a block that has waited once probably will again, as will those of the same kernel that
 * begin after it, and one of a cluster has others to wait for.
 */
const patience = { alone: 1024, together: 4 };

/** Makes a block stop sooner, which has waited or is one of a kernel whose blocks wait. */
export function yieldSooner(grid: Grid, { layout }: CompiledKernel, context: number): void {
  grid.memory.views.i32[(context + layout.words.patience) >>> 2] = patience.together;
}

/** What the tables of extents say where a launch runs. */
export interface LaunchExtents {
  readonly allocations: ExtentTable;
  /** The byte of memory where the module's constants lie. */
  readonly constants: number;
}

/** Writes what compiled code knows of extents into a context. */
function fillExtents(grid: Grid, { layout }: CompiledKernel, context: number, extents: LaunchExtents): void {
  const { views } = grid.memory;
  const at = context + layout.extents;
  const own = [
    { list: grid.sharedExtents, delta: context + layout.shared - windows.shared.start },
    { list: grid.constants.extents, delta: extents.constants - grid.constants.start },
    { list: grid.params.extents, delta: context + layout.params - windows["kernel-param"].start },
  ];
  let count = 0;
  for (const { list, delta } of own) {
    for (const extent of list) {
      writeEntry(views, at + extentHeaderBytes + count * recordBytes, extent, delta);
      count++;
    }
  }
  views.i32[(at + extentHeader.allocations) >>> 2] = extents.allocations.at;
  views.i32[(at + extentHeader.allocationCount) >>> 2] = extents.allocations.count;
  views.i32[(at + extentHeader.ownCount) >>> 2] = count;
  views.i32[(at + extentHeader.granules) >>> 2] = extents.allocations.granules.at;
  views.i32[(at + extentHeader.granuleCount) >>> 2] = extents.allocations.granules.count;
}

const clusterWords = [
  "nclusterid.x",
  "nclusterid.y",
  "nclusterid.z",
  "cluster_nctaid.x",
  "cluster_nctaid.y",
  "cluster_nctaid.z",
  "cluster_nctarank",
  "is_explicit_cluster",
] as const satisfies readonly (keyof ReturnType<typeof clusterScalars>)[];

const clusterPlaces = clusterWords.map(headerWord);

/** The numbers of words in the header. A literal, whose properties V8 finds at once: each launch writes all of them. */
const header = {
  ntidX: headerWord("ntid.x"),
  ntidY: headerWord("ntid.y"),
  ntidZ: headerWord("ntid.z"),
  nctaidX: headerWord("nctaid.x"),
  nctaidY: headerWord("nctaid.y"),
  nctaidZ: headerWord("nctaid.z"),
  nclusteridX: headerWord("nclusterid.x"),
  nclusteridY: headerWord("nclusterid.y"),
  nclusteridZ: headerWord("nclusterid.z"),
  nwarpid: headerWord("nwarpid"),
  nsmid: headerWord("nsmid"),
  envreg1: headerWord("envreg1"),
  envreg2: headerWord("envreg2"),
  currentGraph: headerWord("current_graph_exec"),
  gridid: headerWord("gridid"),
  dynamicSharedBytes: headerWord("dynamic_smem_size"),
  totalSharedBytes: headerWord("total_smem_size"),
  aggregateSharedBytes: headerWord("aggr_smem_size"),
  threads: headerWord("threads"),
  entry: headerWord("entry"),
  resumed: headerWord("resumed"),
  patience: headerWord("patience"),
};

/** Fills the words of a header, the first of which is `at`, that depend on the launch alone. */
function fillHeader(grid: Grid, words: Int32Array, at: number): void {
  const [nx, ny, nz] = grid.block;
  const sharedBytes = grid.staticSharedBytes + grid.dynamicSharedBytes;
  words[at + header.ntidX] = nx;
  words[at + header.ntidY] = ny;
  words[at + header.ntidZ] = nz;
  words[at + header.nctaidX] = grid.dimensions[0];
  words[at + header.nctaidY] = grid.dimensions[1];
  words[at + header.nctaidZ] = grid.dimensions[2];
  words[at + header.nwarpid] = Math.ceil((nx * ny * nz) / 32);
  words[at + header.nsmid] = grid.processors;
  words[at + header.envreg1] = grid.environment[0];
  words[at + header.envreg2] = grid.environment[1];
  words[at + header.currentGraph] = grid.device.graphs?.current ?? 0;
  words[at + header.gridid] = grid.id;
  words[at + header.dynamicSharedBytes] = grid.dynamicSharedBytes;
  words[at + header.totalSharedBytes] = sharedBytes;
  words[at + header.aggregateSharedBytes] = sharedBytes;
  const clusters = clusterScalars(grid);
  for (let i = 0; i < clusterWords.length; i++) words[at + clusterPlaces[i]!] = clusters[clusterWords[i]!];
  words[at + header.threads] = nx * ny * nz;
  words[at + header.resumed] = 0;
  words[at + header.patience] = clusterSize(grid) > 1 ? patience.together : patience.alone;
}

/** Fills a context for the blocks of a launch. */
export function fillContext(
  grid: Grid,
  kernel: CompiledKernel,
  context: number,
  { params, shadow }: LaunchRequest,
  extents: LaunchExtents,
): void {
  const { layout } = kernel;
  const { views } = grid.memory;
  const { i32, u8 } = views;
  const threads = grid.block[0] * grid.block[1] * grid.block[2];
  fillHeader(grid, i32, context >>> 2);
  i32[(context >>> 2) + header.entry] = context + layout.calls;
  if (!kernel.shape.rows) {
    const [nx, ny] = grid.block;
    for (let t = 0; t < threads; t++) {
      const at = (context + layout.tids + 4 * t) >>> 2;
      i32[at] = t % nx;
      i32[at + tidBytes / 4] = Math.floor(t / nx) % ny;
      i32[at + tidBytes / 2] = Math.floor(t / (nx * ny));
    }
  }
  u8.set(kernel.targets, context + layout.targets);
  fillParams(grid, kernel, context, params);
  clearNotes(grid, kernel, context, layout.sites);
  fillExtents(grid, kernel, context, extents);
  for (let i = 0; i < kernel.roots.length; i++) {
    const range = shadow?.ranges.get(kernel.roots[i]!);
    if (range === undefined) fillRoot(grid, kernel, context, i);
    else fillShadowRoot(grid, kernel, context, i, range);
  }
}

/** Notes the memory of watched code to which a parameter points. */
function fillShadowRoot(
  { memory }: Pick<Grid, "memory">,
  { layout }: CompiledKernel,
  context: number,
  i: number,
  { address, bytes, at: from }: ShadowRange,
): void {
  const { i32 } = memory.views;
  const at = (context + layout.roots + i * recordBytes) >>> 2;
  const { low, high } = parts(address);
  i32[at] = low;
  i32[at + 1] = high;
  i32[at + 2] = bytes;
  i32[at + 3] = from - low;
}

/** Bytes that a loop clears in about the time that `fill` takes to begin. */
const maxLoopBytes = 512;

/** A word of parameters. */
const wordOf = (params: Uint8Array, i: number): number =>
  params[i]! | (params[i + 1]! << 8) | (params[i + 2]! << 16) | (params[i + 3]! << 24);

/** Writes the parameters. */
function fillParams(
  { memory }: Pick<Grid, "memory">,
  { layout }: CompiledKernel,
  context: number,
  params: Uint8Array,
): void {
  const { u8, i32 } = memory.views;
  const count = Math.min(params.length, layout.roots - layout.params);
  const at = context + layout.params;
  let i = 0;
  // Words, as which addresses are read next: the machine would have to wait for bytes.
  for (; i + 4 <= count; i += 4) i32[(at + i) >>> 2] = wordOf(params, i);
  for (; i < count; i++) u8[at + i] = params[i]!;
}

/**
 * Writes zeros from byte `cleared` of the context to its table of extents: what the last launch has noted. Few bytes
 * are written by a loop: functions of typed arrays take longer to begin.
 */
function clearNotes(
  { memory }: Pick<Grid, "memory">,
  { layout }: CompiledKernel,
  context: number,
  cleared: number,
): void {
  const { u8, i64 } = memory.views;
  const [from, end] = [context + cleared, context + layout.extents];
  if (end - from > maxLoopBytes) u8.fill(0, from, end);
  else for (let word = from >>> 3; word < end >>> 3; word++) i64[word] = 0n;
}

/** Notes the allocation to which a parameter points. */
function fillRoot(
  { addresses, memory }: Pick<Grid, "addresses" | "memory">,
  { layout, roots }: CompiledKernel,
  context: number,
  i: number,
): void {
  const { i32 } = memory.views;
  const at = (context + layout.roots + i * recordBytes) >>> 2;
  const from = (context + layout.params + roots[i]!) >>> 2;
  const high = addresses.size === 64 ? i32[from + 1]! >>> 0 : 0;
  const offset = addresses.offset(high, i32[from]! >>> 0);
  const allocation = offset === null ? null : memory.find(offset);
  const base = addresses.globalLow;
  i32[at] = allocation === null ? 0 : allocation.start + base;
  i32[at + 1] = allocation === null ? 0 : high;
  i32[at + 2] = allocation === null || allocation.freed ? 0 : allocation.end - allocation.start;
  i32[at + 3] = -base;
}

/**
 * Writes the parameters over those of a launch with the same allocations: a parameter that is the same points to the
 * same one.
 */
function refillParams(
  device: Pick<Grid, "addresses" | "memory">,
  kernel: CompiledKernel,
  context: number,
  params: Uint8Array,
): void {
  const { layout, roots } = kernel;
  const { i32 } = device.memory.views;
  for (let i = 0; i < roots.length; i++) {
    const root = roots[i]!;
    const at = (context + layout.params + root) >>> 2;
    const [low, high] = [wordOf(params, root), wordOf(params, root + 4)];
    if (i32[at] === low && (i32[at + 1] === high || device.addresses.size === 32)) continue;
    i32[at] = low;
    if (device.addresses.size === 64) i32[at + 1] = high;
    fillRoot(device, kernel, context, i);
  }
  fillParams(device, kernel, context, params);
}

/**
 * Fills a context that an earlier launch without clusters has left: of the same sizes, apart from its grid, and with
 * the same allocations. `keepsRecords`: what instructions have found in the last launch they would find again. Returns
 * the context.
 */
export function fillForLaunch(
  device: Pick<Grid, "addresses" | "memory">,
  kernel: CompiledKernel,
  context: number,
  id: number,
  { grid, params }: Pick<LaunchRequest, "grid" | "params">,
  keepsRecords: boolean,
): number {
  const { layout } = kernel;
  const { i32 } = device.memory.views;
  const at = context >>> 2;
  clearNotes(device, kernel, context, keepsRecords ? layout.framePools : layout.sites);
  refillParams(device, kernel, context, params);
  // Each block is a cluster.
  i32[at + header.nctaidX] = i32[at + header.nclusteridX] = grid[0];
  i32[at + header.nctaidY] = i32[at + header.nclusteridY] = grid[1];
  i32[at + header.nctaidZ] = i32[at + header.nclusteridZ] = grid[2];
  i32[at + header.gridid] = id;
  return context;
}
