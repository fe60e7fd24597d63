import type { LaunchRequest } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";

/** The part of a launch that depends on the instruction set; how it is watched and limited does not. */
export interface LaunchPlan {
  readonly request: Pick<LaunchRequest, "grid" | "block" | "cluster" | "sharedBytes" | "params" | "threads">;
  /** The number of threads in the launch (work items in vISA). */
  readonly threads: number;
  /** Frees what the launch needed besides its arguments, and returns what the kernel has printed into memory. */
  readonly finish?: () => string;
}

/** The size of a launch: blocks of threads in PTX, groups of work items in vISA. */
export type LaunchSize =
  | {
      /** The number of blocks in up to three dimensions. */
      readonly grid: Size;
      /** The number of threads in a block, in up to three dimensions; at most 1024 in all. */
      readonly block: Size;
      /** The size of dynamic shared memory in bytes. Default: 0. */
      readonly shared?: number;
      /**
       * The number of blocks in a cluster, in up to three dimensions, which divide those of the grid; at most 16 in
       * all. Default: what the kernel says (`.reqnctapercluster`), or else none.
       */
      readonly cluster?: Size;
      readonly global?: never;
      readonly local?: never;
    }
  | {
      /** The number of work items in up to three dimensions, each a multiple of that of a group. */
      readonly global: Size;
      /** The number of work items in a group, in up to three dimensions; at most 1024 in all. */
      readonly local: Size;
      readonly grid?: never;
      readonly block?: never;
      readonly shared?: never;
      readonly cluster?: never;
    };

/** A size in up to three dimensions: a number, or `[x, y, z]`. Missing dimensions are 1. */
export type Size = number | readonly [x: number, y?: number, z?: number];

export const dim3 = (size: Size): Dim3 =>
  typeof size === "number" ? [size, 1, 1] : [size[0], size[1] ?? 1, size[2] ?? 1];

/** Whether a size is one that is known. */
export const isSize = (size: Size, [x, y, z]: Dim3): boolean =>
  typeof size === "number"
    ? size === x && y === 1 && z === 1
    : size[0] === x && (size[1] ?? 1) === y && (size[2] ?? 1) === z;
