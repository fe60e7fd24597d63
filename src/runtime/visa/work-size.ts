import type { Dim3 } from "../../machine/reports/report.ts";
import { UsageError } from "../data/errors.ts";

/** The number of work items in a launch, and their division into groups. */
export interface WorkSize {
  readonly global: Dim3;
  readonly local: Dim3;
  readonly groups: Dim3;
  /** 1 to 3, as `get_work_dim` returns it. */
  readonly dimensions: number;
}

/** The most work items in a group, as on the largest GPUs. */
const maxItems = 1024;
const maxGlobal = 0xffff_ffff;

export const product = ([x, y, z]: Dim3): number => x * y * z;
const show = (size: Dim3): string => `(${size.join(", ")})`;

/**
 * Divides the work items of a launch into groups.
 *
 * @throws UsageError if a size is invalid, or the global size is not a multiple of the local size
 */
export function workSize(kernel: string, global: Dim3, local: Dim3): WorkSize {
  const wrong = (what: string): never => {
    throw new UsageError(`kernel "${kernel}": ${what}`);
  };
  const within = (size: Dim3, max: number): boolean => size.every((n) => Number.isInteger(n) && n >= 1 && n <= max);
  if (!within(global, maxGlobal)) wrong(`a global size of ${show(global)} is not from (1, 1, 1) to 2^32 - 1`);
  if (!within(local, maxItems)) wrong(`a local size of ${show(local)} is not from (1, 1, 1) to ${maxItems}`);
  if (product(local) > maxItems) wrong(`a group of ${product(local)} work items; it has at most ${maxItems}`);
  const groups: Dim3 = [global[0] / local[0], global[1] / local[1], global[2] / local[2]];
  if (!groups.every(Number.isInteger)) {
    wrong(`the global size ${show(global)} is not a multiple of the local size ${show(local)}`);
  }
  const dimensions = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
  return { global, local, groups, dimensions };
}
