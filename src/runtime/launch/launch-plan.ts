import type { LaunchRequest } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";

/** What a launch is, apart from how it is watched and limited: the part that depends on the instruction set. */
export interface LaunchPlan {
  readonly request: Pick<LaunchRequest, "grid" | "block" | "sharedBytes" | "params" | "threads">;
  /** Threads of the launch (work items in vISA). */
  readonly threads: number;
  /** Gives back what the launch needed besides its arguments, and what the kernel has printed into memory. */
  readonly finish?: () => string;
}

/** How large a launch is: blocks of threads in PTX, work items in groups in vISA. */
export type LaunchSize =
  | {
      /** Blocks: a number, or up to three. */
      readonly grid: Size;
      /** Threads of a block: a number, or up to three, 1024 in all at most. */
      readonly block: Size;
      /** Bytes of dynamic shared memory. Default 0. */
      readonly shared?: number;
      readonly global?: never;
      readonly local?: never;
    }
  | {
      /** Work items of the launch: a number, or up to three, multiples of those of a group. */
      readonly global: Size;
      /** Work items of a group: a number, or up to three, 1024 in all at most. */
      readonly local: Size;
      readonly grid?: never;
      readonly block?: never;
      readonly shared?: never;
    };

/** Extents in x, y and z; those left out are 1. A number is the extent in x. */
export type Size = number | readonly [x: number, y?: number, z?: number];

export const dim3 = (size: Size): Dim3 =>
  typeof size === "number" ? [size, 1, 1] : [size[0], size[1] ?? 1, size[2] ?? 1];
