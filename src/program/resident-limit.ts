import type { Dim3 } from "../machine/reports/report.ts";

/** The multiprocessors of the largest GPU, and the blocks and threads for which each has room at the same time. */
const largest = { processors: 148, blocks: 32, threads: 2048 };

/** Blocks of any size that run at the same time, where they wait for each other. */
const always = 512;

/**
 * Blocks of a size that run at the same time at most, where earlier ones wait for later ones: programs that let all
 * blocks of a grid meet launch as many as their GPU has room for.
 */
export function mostResident([x, y, z]: Dim3): number {
  const { processors, blocks, threads } = largest;
  return Math.max(always, processors * Math.min(blocks, Math.floor(threads / (x * y * z))));
}
