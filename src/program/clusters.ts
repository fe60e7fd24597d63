import { clusterWindows, type IrFunction, type LaunchBounds } from "../ir/index.ts";
import type { BlockRange, LaunchRequest } from "../machine/launch.ts";
import type { Dim3 } from "../machine/reports/report.ts";
import { placeInCluster } from "../machine/state/cluster.ts";
import type { ClusterShape } from "../machine/state/launch-state.ts";

const single: Dim3 = [1, 1, 1];

const productOf = ([x, y, z]: Dim3): number => x * y * z;

/**
 * Returns what is wrong with the cluster dimensions of a launch, or null. `cluster`: as the launch gives them, if it
 * does; `grid`: in blocks (sections 11.7.1 to 11.7.3).
 */
export function clusterProblem(bounds: LaunchBounds, cluster: Dim3 | undefined, grid: Dim3): string | null {
  const { reqnctapercluster: required, maxclusterrank: most, explicitcluster } = bounds;
  const used = cluster ?? required;
  if (used === undefined) {
    return explicitcluster === true ? "the launch gives no cluster dimensions, which .explicitcluster demands" : null;
  }
  const size = `(${used.join(", ")})`;
  if (!used.every((n) => Number.isInteger(n) && n >= 1)) return `a cluster of ${size} blocks`;
  if (required !== undefined && !required.every((n, i) => n === used[i])) {
    return `a cluster of ${size} blocks, but .reqnctapercluster wants (${required.join(", ")})`;
  }
  const blocks = productOf(used);
  if (most !== undefined && blocks > most) return `a cluster of ${blocks} blocks, but .maxclusterrank allows ${most}`;
  if (blocks > clusterWindows.maxRank) {
    return `a cluster of ${blocks} blocks; one has at most ${clusterWindows.maxRank}`;
  }
  if (used.every((n, i) => grid[i]! % n === 0)) return null;
  return `a grid of (${grid.join(", ")}) blocks cannot be divided into clusters of ${size}`;
}

/** The clusters of a launch. Throws a RangeError if the request is invalid. */
export function clusterOf(kernel: IrFunction, { cluster, grid, blocks, sharedBytes }: LaunchRequest): ClusterShape {
  const problem = clusterProblem(kernel.bounds, cluster, grid);
  if (problem !== null) throw new RangeError(`${kernel.name}: ${problem}`);
  const used = cluster ?? kernel.bounds.reqnctapercluster;
  const shape = { dimensions: used ?? single, isExplicit: used !== undefined };
  if (productOf(shape.dimensions) === 1) return shape;
  if (sharedBytes > clusterWindows.stride / 2) {
    throw new RangeError(`${sharedBytes} bytes of shared memory in a block of a cluster`);
  }
  if (blocks !== undefined) checkWhole(shape.dimensions, grid, blocks);
  return shape;
}

/** Throws a RangeError unless all blocks of a cluster run or none. */
function checkWhole(dimensions: Dim3, grid: Dim3, ranges: readonly BlockRange[]): void {
  const counts = new Map<string, number>();
  for (const [from, to] of ranges) {
    for (let i = from; i < to; i++) {
      const { clusterid } = placeInCluster({ cluster: { dimensions, isExplicit: true } }, indexOf(grid, i));
      const key = clusterid.join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const [id, count] of counts) {
    if (count === productOf(dimensions)) continue;
    throw new RangeError(`only ${count} blocks of cluster (${id}) are to run; they run together or not at all`);
  }
}

const indexOf = ([gx, gy]: Dim3, linear: number): Dim3 => [
  linear % gx,
  Math.floor(linear / gx) % gy,
  Math.floor(linear / (gx * gy)),
];

/**
 * The order in which the blocks of a grid begin: cluster by cluster, and by rank within each. Returns the linear index
 * of the nth.
 */
export function nthBlock(grid: Dim3, cluster: Dim3, n: number): number {
  const size = productOf(cluster);
  if (size === 1) return n;
  const [gx, gy] = grid;
  const [cx, cy] = cluster;
  const rank = n % size;
  const id = Math.floor(n / size);
  const [nx, ny] = [gx / cx, gy / cy];
  const x = (id % nx) * cx + (rank % cx);
  const y = (Math.floor(id / nx) % ny) * cy + (Math.floor(rank / cx) % cy);
  const z = Math.floor(id / (nx * ny)) * cluster[2] + Math.floor(rank / (cx * cy));
  return x + gx * (y + gy * z);
}

/**
 * For the clusters that have blocks in some ranges: of the nth block that runs, its place in the order of all blocks.
 */
export function clusterOrder(grid: Dim3, cluster: Dim3, ranges: readonly BlockRange[]): (n: number) => number {
  const [[from, to] = [0, 0]] = ranges;
  if (ranges.length === 1 && from === 0 && to === productOf(grid)) return (n) => n;
  const size = productOf(cluster);
  const clusters = new Set<number>();
  for (const [first, end] of ranges) {
    for (let i = first; i < end; i++) clusters.add(Math.floor(orderOfBlock(grid, cluster, i) / size));
  }
  const list = [...clusters].sort((a, b) => a - b);
  return (n) => list[Math.floor(n / size)]! * size + (n % size);
}

/** The reverse of `nthBlock`. */
function orderOfBlock(grid: Dim3, cluster: Dim3, linear: number): number {
  const size = productOf(cluster);
  if (size === 1) return linear;
  const { rank, clusterid } = placeInCluster(
    { cluster: { dimensions: cluster, isExplicit: true } },
    indexOf(grid, linear),
  );
  const [nx, ny] = [grid[0] / cluster[0], grid[1] / cluster[1]];
  return (clusterid[0] + nx * (clusterid[1] + ny * clusterid[2])) * size + rank;
}
