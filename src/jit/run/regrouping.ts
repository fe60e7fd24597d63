import { type GlobalIndexUse, globalIndexUseOf, transposed } from "../../ir/flow/index.ts";
import { accessesOf, type Instruction, type IrFunction, type Op } from "../../ir/index.ts";
import { symbolsOf } from "../../ir/operands.ts";
import type { LaunchRequest } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import { isOrderedAtomic } from "../compile/analysis/chunk-width.ts";
import { specialsOf } from "../compile/analysis/values/special-registers.ts";
import { laneByLaneAccesses } from "../compile/analysis/access/lane-by-lane.ts";
import { isBetterAlongY } from "../compile/analysis/access/lane-order.ts";
import type { WarpConflicts } from "../compile/analysis/access/warp-conflicts.ts";
import type { CompiledFunctions } from "../compile/plan/compiled-functions.ts";

/** The blocks of a launch: how many there are, and of how many threads. */
type Blocks = Pick<LaunchRequest, "grid" | "block">;

/** Blocks in which a launch runs instead of those that were asked for. */
export interface OtherBlocks extends Blocks {
  /** Whether x and y are exchanged. */
  readonly isTransposed: boolean;
}

/** A kernel that knows its threads by their global index alone. */
interface AloneKernel {
  readonly use: GlobalIndexUse;
  /** The same with x and y exchanged, where its lanes are better along y; else null. */
  readonly transposed: GlobalIndexUse | null;
}

/** What such a kernel knows of its blocks: see `GlobalIndexUse`. */
interface KnownThreads extends Pick<GlobalIndexUse, "sizes"> {
  /** Threads of a row that blocks of several rows are given: see `widthInRows`. */
  readonly width: number;
  /** The same with x and y exchanged, where its lanes are better along y; else null. */
  readonly transposed: GlobalIndexUse["sizes"] | null;
}

/**
 * Runs the threads of a launch in other blocks, where the kernel cannot tell: it knows its threads by their global
 * index alone, and none of them waits for another. Lanes of a chunk then have neighbouring threads of a row of the
 * grid, also where the blocks of the launch are small, or narrow squares; or of a column, if that is where neighbours
 * access neighbouring words.
 */
export class Regrouping {
  readonly #program: Program;
  readonly #functions: CompiledFunctions;
  readonly #conflictsOf: (kernel: IrFunction, block: Dim3) => WarpConflicts;
  readonly #noted: <T>(name: string, find: () => T) => T;
  /** By kernel and block. */
  readonly #known = new Map<string, KnownThreads | null>();
  /** By kernel; null where it can tell. */
  readonly #kernels = new Map<string, AloneKernel | null>();

  /**
   * `conflictsOf`: what lanes of a warp find of each other's accesses; kernels with `loads` stay as they are. `noted`:
   * what is found out of a kernel, by this process or an earlier one.
   */
  constructor(
    program: Program,
    functions: CompiledFunctions,
    conflictsOf: (kernel: IrFunction, block: Dim3) => WarpConflicts,
    noted: <T>(name: string, find: () => T) => T = (_, find) => find(),
  ) {
    this.#program = program;
    this.#functions = functions;
    this.#conflictsOf = conflictsOf;
    this.#noted = noted;
  }

  /** Whether the blocks of a launch may depend on the size of its grid. */
  dependsOnGrid({ kernel, grid, block, cluster, blocks, threads, sharedBytes }: LaunchRequest): boolean {
    if (cluster !== undefined || blocks !== undefined || threads !== undefined || sharedBytes > 0) return false;
    const isGood = block[0] % 32 === 0 && (block[0] >= wideEnough || block[1] * block[2] > 1);
    if (isGood && !hasColumns({ grid, block })) return false;
    const known = this.#in(kernel, block);
    return known !== null && (!isGood || known.transposed !== null);
  }

  /** Other blocks in which a launch runs; null if it runs in those that were asked for. */
  blocksFor(request: LaunchRequest): OtherBlocks | null {
    return this.dependsOnGrid(request) ? this.#regrouped(request) : null;
  }

  #regrouped({ kernel, grid, block }: LaunchRequest): OtherBlocks | null {
    const { sizes, transposed, width } = this.#in(kernel, block)!;
    if (!fits(grid, block)) return null;
    if (transposed !== null && transposed[0] !== null && hasColumns({ grid, block })) {
      const given = { grid: exchanged(grid), block: exchanged(block) };
      return { ...(otherBlocks(given.grid, given.block, transposed, width) ?? given), isTransposed: true };
    }
    const other = otherBlocks(grid, block, sizes, width);
    return other && { ...other, isTransposed: false };
  }

  /** What a kernel knows of its threads in blocks of one size; null where it stays in them. */
  #in(kernel: string, block: Dim3): KnownThreads | null {
    const key = `${kernel} ${block.join()}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      known = this.#noted(`threads of ${key}`, () => this.#findIn(kernel, block));
      this.#known.set(key, known);
    }
    return known;
  }

  #findIn(kernel: string, block: Dim3): KnownThreads | null {
    const known = this.#of(kernel);
    if (known === null) return null;
    const { use, transposed } = known;
    if (!use.sizes.every((size, i) => size === null || size === "any" || size === block[i])) return null;
    // A kernel that knows its blocks in one direction is written for blocks of one size there.
    if (use.sizes[0] === null || this.#conflictsOf(this.#functions.named(kernel)!.ir, block) === "loads") return null;
    return { sizes: use.sizes, width: widthInRows((transposed ?? use).ir), transposed: transposed?.sizes ?? null };
  }

  /** The kernel that runs in such blocks: it knows its threads by their global index alone. */
  kernelIn(kernel: string, { isTransposed }: Pick<OtherBlocks, "isTransposed">): IrFunction {
    const { use, transposed } = this.#of(kernel)!;
    return isTransposed ? transposed!.ir : use.ir;
  }

  /** What a kernel knows of its blocks; null where it may know more than the numbers of its threads. */
  #of(kernel: string): AloneKernel | null {
    let known = this.#kernels.get(kernel);
    if (known === undefined) {
      const use = this.#find(kernel);
      this.#kernels.set(kernel, (known = use && { use, transposed: transposedUse(use) }));
    }
    return known;
  }

  #find(kernel: string): GlobalIndexUse | null {
    const compiled = this.#functions.named(kernel);
    if (compiled === null || compiled.ir.file !== undefined) return null;
    const { instructions } = compiled.ir;
    const { variables } = this.#program.module;
    const shared = new Set(variables.filter(({ space }) => space === "shared").map(({ name }) => name));
    if (!instructions.every((instruction) => isAlone(instruction, shared))) return null;
    return globalIndexUseOf(compiled.ir);
  }
}

/** The same kernel with its lanes along y, where that is better; else null. */
function transposedUse({ sizes: [x, y, z], ir }: GlobalIndexUse): GlobalIndexUse | null {
  if (!specialsOf(ir.instructions).has("tid.y")) return null;
  const other = transposed(ir);
  return isBetterAlongY(ir, other) ? { sizes: [y!, x!, z!], ir: other } : null;
}

const exchanged = ([x, y, z]: Dim3): Dim3 => [y, x, z];

/** Whether the columns of a grid have as many threads as a warp, at least. */
const hasColumns = ({ grid, block }: Blocks): boolean => grid[1] * block[1] >= 32;

/** Threads of a row of a block from which on there is nothing to gain. */
const wideEnough = 128;

/** Threads of a row that blocks are given: whole chunks. What many rows have in common then stays in caches. */
const goodWidths = { oneRow: 256, manyRows: 32 };

/**
 * Threads of a row that blocks of several rows are given. Where a thread makes no loop and neighbours in a row access
 * neighbouring words, as in a step of a simulation on a grid, rows have little in common but neighbours, and long rows
 * share what each begins with.
 */
function widthInRows(ir: IrFunction): number {
  const isLoop = ({ op }: Instruction, i: number): boolean =>
    op.kind === "branch-indexed" || (op.kind === "branch" && op.target <= i);
  return ir.instructions.some(isLoop) || laneByLaneAccesses(ir) > 0 ? goodWidths.manyRows : goodWidths.oneRow;
}

/** Threads of a block. */
const mostThreads = 1024;

/** Threads of a row of which some may be missing in the last chunk. */
const fewest = 64;

/** Whether numbers of threads have 31 bits at most, so that they are the same in 32 and 64 bits. */
const fits = (grid: Dim3, block: Dim3): boolean => grid.every((n, i) => n * block[i]! < 2 ** 31);

/**
 * Blocks in which whole chunks lie in a row, of up to `widest` threads where there are several rows; null where these
 * would be no better.
 */
function otherBlocks(grid: Dim3, block: Dim3, sizes: GlobalIndexUse["sizes"], widest: number): Blocks | null {
  const [, y, z] = block;
  const isFree = (d: 1 | 2): boolean => sizes[d] !== null;
  const threads = grid[0] * block[0];
  const width = y * z === 1 ? null : wholeWidth(threads, block[0], widest);
  const rowsOf = (height: number, depth: number, width: number): Blocks | null => ({
    grid: [threads / width, grid[1] * (y / height), grid[2] * (z / depth)],
    block: [width, height, depth],
  });
  if (width !== null) {
    const height = isFree(1) ? divisorUpTo(Math.floor(mostThreads / (width * z)), y) : y;
    if (height > 0 && width * height * z <= mostThreads) return rowsOf(height, z, width);
  }
  if ((y > 1 && !isFree(1)) || (z > 1 && !isFree(2))) return null;
  const wide = wholeWidth(threads, block[0], goodWidths.oneRow) ?? divisorUpTo(mostThreads, threads);
  return wide >= Math.max(fewest, 2 * block[0]) ? rowsOf(1, 1, wide) : null;
}

/** The largest width of blocks up to a bound that fills chunks and divides the threads of a row; null if none does. */
function wholeWidth(threads: number, old: number, widest: number): number | null {
  for (let width = widest; width > old; width -= 32) if (threads % width === 0) return width;
  return null;
}

/** The largest divisor of `n` that is not larger than `most`; 0 if there is none. */
function divisorUpTo(most: number, n: number): number {
  let divisor = Math.min(most, n);
  while (divisor > 0 && n % divisor !== 0) divisor--;
  return divisor;
}

/** Kinds of operations that a thread does by itself. */
const ownKinds: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>([
  ...(["pure", "load", "store", "atomic", "branch", "branch-indexed", "return", "exit", "trap", "nothing"] as const),
]);

/** Operations of units that only read. */
const readers: ReadonlySet<string> = new Set(["image-fetch", "surface-load", "image-query", "image-test"]);

/** Special registers that tell nothing of the division into blocks but what `globalIndexUseOf` finds. */
const ownSpecials = /^(tid|ntid|ctaid|nctaid)\.|^(envreg[12]|current_graph_exec|gridid|window)$/;

/** Whether what an instruction does for a thread depends neither on other threads of its block nor on their order. */
function isAlone(instruction: Instruction, shared: ReadonlySet<string>): boolean {
  const { op } = instruction;
  if (!ownKinds.has(op.kind) && !(op.kind === "unit" && readers.has(op.unit.op))) return false;
  if (isOrderedAtomic(instruction)) return false;
  const isPlain = accessesOf(op).every(
    ({ effect, access: { space, volatile, order } }) =>
      !space.startsWith("shared") && !volatile && order === (effect === "atomic" ? "relaxed" : "weak"),
  );
  if (!isPlain) return false;
  let namesShared = false;
  symbolsOf(op, (name) => (namesShared ||= shared.has(name)), new Set());
  return !namesShared && [...specialsOf([instruction])].every((name) => ownSpecials.test(name));
}

/** The same launch in other blocks; how far it is counts the blocks that were asked for. */
export function inBlocks(request: LaunchRequest, { grid, block, isTransposed }: OtherBlocks): LaunchRequest {
  const { onProgress } = request;
  const asked = { grid: request.grid, block: request.block, isTransposed };
  const blocks = blocksOf(asked);
  // Each property by name: V8 then knows where they are. A copy by `...` makes every launch some microseconds longer.
  const all: { readonly [K in keyof Required<LaunchRequest>]: LaunchRequest[K] | undefined } = {
    kernel: request.kernel,
    grid,
    block,
    asked,
    cluster: undefined,
    blocks: undefined,
    sharedBytes: request.sharedBytes,
    params: request.params,
    threads: undefined,
    sanitize: request.sanitize,
    shadow: request.shadow,
    seed: request.seed,
    steering: request.steering,
    maxSteps: request.maxSteps,
    timeoutMs: request.timeoutMs,
    environment: request.environment,
    hostClock: request.hostClock,
    matrix: request.matrix,
    hostThreads: request.hostThreads,
    onProgress:
      onProgress === undefined
        ? undefined
        : ({ blocksDone, steps }) =>
            onProgress({ blocksDone: Math.floor((blocksDone / blocksOf({ grid })) * blocks), blocks, steps }),
    onReport: request.onReport,
    onOutput: request.onOutput,
    onDeviceWork: request.onDeviceWork,
    deviceFacts: request.deviceFacts,
    deviceGraphs: request.deviceGraphs,
  };
  return all as LaunchRequest;
}

const blocksOf = ({ grid: [x, y, z] }: Pick<Blocks, "grid">): number => x * y * z;
