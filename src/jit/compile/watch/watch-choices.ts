import type { SanitizerName } from "../../../machine/launch.ts";
import type { Extent } from "../../../machine/memory/extent.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";

/** What the code that watches a kernel depends on, besides the kernel. */
export interface WatchChoices {
  readonly sanitizers: ReadonlySet<SanitizerName>;
  readonly block: Dim3;
  /** Lanes that execute an instruction together, at most. */
  readonly lanes: number;
  /** Bytes of a block's shared memory, from the beginning of its window. */
  readonly sharedBytes: number;
  /** Where a variable of shared memory lies in a block; null if there is none of the name. */
  readonly sharedExtentOf: (name: string) => Extent | null;
}

/** Threads of a block. */
export const threadsOf = ([x, y, z]: Dim3): number => x * y * z;

/** Whether a name is that of a variable in global memory. */
export type IsGlobal = (name: string) => boolean;
