import type { IrFunction, LaunchBounds } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { clusterProblem } from "../../program/clusters.ts";
import { type ArgumentContext, type KernelArgument, packArguments } from "../data/argument.ts";
import { UsageError } from "../data/errors.ts";
import { dim3, isSize, type LaunchPlan, type LaunchSize } from "./launch-plan.ts";

/** Bytes: far more than any GPU has, and less than the shared window of the address space. */
const maxShared = 0x0400_0000;

/** The most threads in a block, whatever its shape. */
export const maxThreads = 1024;

/** The number of threads in a grid or block of this size. */
export const threadsOf = ([x, y, z]: Dim3): number => x * y * z;

/** Sizes that fit a kernel: those that were given, and what they mean. */
interface CheckedSize {
  readonly given: { readonly grid: Dim3; readonly block: Dim3; readonly shared: number };
  readonly grid: Dim3;
  readonly threads: number;
}

/** By kernel, the sizes of its last launch, which has no clusters: many launches are like the one before. */
const lastSizes = new WeakMap<IrFunction, CheckedSize>();

/**
 * Plans the launch of a PTX kernel, with its parameters laid out in bytes. Where its sizes are those of the kernel's
 * last launch they are the same objects.
 *
 * @throws UsageError if arguments or sizes do not fit the kernel
 */
export function planPtx(
  kernel: IrFunction,
  size: LaunchSize,
  args: readonly KernelArgument[],
  context: ArgumentContext,
): LaunchPlan {
  const { grid, given, threads } = checkedSize(kernel, size);
  const params = packArguments(kernel, args, context);
  const { block, shared: sharedBytes } = given;
  return size.cluster === undefined
    ? { request: { grid, block, sharedBytes, params }, threads }
    : { request: { grid, block, sharedBytes, params, cluster: dim3(size.cluster) }, threads };
}

/** @throws UsageError if a size does not fit the kernel */
function checkedSize(kernel: IrFunction, size: LaunchSize): CheckedSize {
  if (size.grid === undefined || size.block === undefined) {
    throw new UsageError(`kernel "${kernel.name}" is PTX: give \`grid\` in blocks and \`block\` in threads`);
  }
  const { shared = 0 } = size;
  const last = lastSizes.get(kernel);
  if (last !== undefined && size.cluster === undefined && last.given.shared === shared) {
    if (isSize(size.grid, last.given.grid) && isSize(size.block, last.given.block)) return last;
  }
  const given = { grid: dim3(size.grid), block: dim3(size.block), shared };
  const grid = gridOf(kernel, given.grid);
  checkSizes(kernel, grid, given.block, shared);
  const cluster = size.cluster === undefined ? undefined : dim3(size.cluster);
  const problem = clusterProblem(kernel.bounds, cluster, grid);
  if (problem !== null) throw misfit(kernel, problem);
  const checked = { given, grid, threads: threadsOf(grid) * threadsOf(given.block) };
  if (cluster === undefined) lastSizes.set(kernel, checked);
  return checked;
}

/** The grid in blocks: with `.blocksareclusters` a launch counts clusters (section 11.8.1). */
function gridOf({ bounds }: IrFunction, grid: Dim3): Dim3 {
  const { blocksareclusters, reqnctapercluster } = bounds;
  if (blocksareclusters !== true || reqnctapercluster === undefined) return grid;
  return [grid[0] * reqnctapercluster[0], grid[1] * reqnctapercluster[1], grid[2] * reqnctapercluster[2]];
}

function checkSizes(kernel: IrFunction, grid: Dim3, block: Dim3, shared: number): void {
  checkSize(kernel, "grid", grid, [0x7fff_ffff, 65_535, 65_535]);
  if (!Number.isInteger(shared) || shared < 0 || shared > maxShared) {
    throw misfit(kernel, `${shared} bytes of shared memory; it has at most ${maxShared}`);
  }
  checkBlock(kernel, block);
}

/** @throws UsageError if the kernel cannot have blocks of this size */
export function checkBlock(kernel: IrFunction, block: Dim3): void {
  checkSize(kernel, "block", block, [maxThreads, 1024, 64]);
  const threads = threadsOf(block);
  if (threads > maxThreads) throw misfit(kernel, `a block of ${threads} threads; it has at most ${maxThreads}`);
  const bounds = boundsProblem(kernel.bounds, block);
  if (bounds) throw misfit(kernel, bounds);
}

function checkSize(kernel: IrFunction, what: string, size: Dim3, max: Dim3): void {
  const fits = size.every((n, i) => Number.isInteger(n) && n >= 1 && n <= max[i]!);
  if (!fits) throw misfit(kernel, `a ${what} of (${size.join(", ")}) is not from (1, 1, 1) to (${max.join(", ")})`);
}

const misfit = ({ name }: IrFunction, what: string): UsageError => new UsageError(`kernel "${name}": ${what}`);

function boundsProblem({ reqntid, maxntid }: LaunchBounds, block: Dim3): string | null {
  const size = `(${block.join(", ")})`;
  if (reqntid && !reqntid.every((n, i) => n === block[i])) {
    return `a block of ${size} threads, but .reqntid wants (${reqntid.join(", ")})`;
  }
  if (maxntid && threadsOf(block) > threadsOf(maxntid)) {
    return `a block of ${threadsOf(block)} threads, but .maxntid allows ${threadsOf(maxntid)}`;
  }
  return null;
}
