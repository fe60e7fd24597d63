import type { IrFunction, LaunchBounds } from "../ir/index.ts";
import type { Dim3 } from "../machine/report.ts";
import { type ArgumentContext, type KernelArgument, packArguments } from "./argument.ts";
import { UsageError } from "./errors.ts";
import { dim3, type LaunchPlan, type LaunchSize } from "./launch-plan.ts";

/** Far more than any GPU has, and less than the window of the address space. */
const mostShared = 0x0400_0000;

const product = ([x, y, z]: Dim3): number => x * y * z;

/**
 * A launch of a PTX kernel: blocks of threads, and the parameters in a block of bytes.
 *
 * @throws UsageError when arguments or sizes do not fit the kernel
 */
export function planPtx(
  kernel: IrFunction,
  size: LaunchSize,
  args: readonly KernelArgument[],
  context: ArgumentContext,
): LaunchPlan {
  if (size.grid === undefined || size.block === undefined) {
    throw new UsageError(`kernel "${kernel.name}" is PTX: give \`grid\` in blocks and \`block\` in threads`);
  }
  const { shared = 0 } = size;
  const grid = dim3(size.grid);
  const block = dim3(size.block);
  checkSizes(kernel, grid, block, shared);
  const params = packArguments(kernel, args, context);
  return { request: { grid, block, sharedBytes: shared, params }, threads: product(grid) * product(block) };
}

function checkSizes(kernel: IrFunction, grid: Dim3, block: Dim3, shared: number): void {
  const wrong = (what: string): never => {
    throw new UsageError(`kernel "${kernel.name}": ${what}`);
  };
  const limits: [string, Dim3, Dim3][] = [
    ["grid", grid, [0x7fff_ffff, 65_535, 65_535]],
    ["block", block, [1024, 1024, 64]],
  ];
  for (const [what, size, most] of limits) {
    const fits = size.every((n, i) => Number.isInteger(n) && n >= 1 && n <= most[i]!);
    if (!fits) wrong(`a ${what} of (${size.join(", ")}) is not from (1, 1, 1) to (${most.join(", ")})`);
  }
  if (!Number.isInteger(shared) || shared < 0 || shared > mostShared) {
    wrong(`${shared} bytes of shared memory; it has at most ${mostShared}`);
  }
  if (product(block) > 1024) wrong(`a block of ${product(block)} threads; it has at most 1024`);
  const bounds = boundsProblem(kernel.bounds, block);
  if (bounds) wrong(bounds);
}

function boundsProblem({ reqntid, maxntid }: LaunchBounds, block: Dim3): string | null {
  const size = `(${block.join(", ")})`;
  if (reqntid && !reqntid.every((n, i) => n === block[i])) {
    return `a block of ${size} threads, but .reqntid wants (${reqntid.join(", ")})`;
  }
  if (maxntid && product(block) > product(maxntid)) {
    return `a block of ${product(block)} threads, but .maxntid allows ${product(maxntid)}`;
  }
  return null;
}
