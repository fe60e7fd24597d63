import type { WorkItemModel } from "../../ir/index.ts";
import type { Image } from "../images/image.ts";
import type { Sampler } from "../images/sampler.ts";
import type { Dim3 } from "../reports/report.ts";

/** The memory of an index of the binding table (vISA): bytes from a device address on. */
export interface Surface {
  readonly address: bigint;
  readonly bytes: number;
}

/** A hardware thread that is about to begin. */
export interface ThreadStart {
  readonly group: Dim3;
  /** Within the group, and within the launch. */
  readonly index: number;
  readonly serial: number;
  /** A number from 0 that its group has while it runs: groups that run at the same time have different ones. */
  readonly slot: number;
  /** The lanes that have a work item. */
  readonly lanes: number;
  /** Work-item ids within the group: x of the lanes (32 entries), then y, then z. */
  readonly localIds: Int32Array;
}

/** How vISA's hardware threads run: groups of work items, `width` to a thread, in lockstep. */
export interface ThreadModel {
  /** Lanes of a thread: 1 to 32. */
  readonly width: number;
  /** Fills the kernel's byte file: r0, the payload, the thread's state. */
  readonly start: (file: DataView, thread: ThreadStart) => void;
  /** The bytes of the kernel's variables that the payload fills; absent: all of them. */
  readonly payload?: readonly { readonly at: number; readonly size: number }[];
  /**
   * What work items know without a thread around them, if it can be said: compiled code then may do without threads.
   * The values are among the launch's parameters.
   */
  readonly items?: WorkItemModel;
  /** By index: one of the binding table, or one of `surfaceIndex`. */
  readonly surfaces: ReadonlyMap<number, Surface>;
  /** The images among the surfaces, and the samplers, by index; absent: none. */
  readonly images?: ReadonlyMap<number, Image>;
  readonly samplers?: ReadonlyMap<number, Sampler>;
  /**
   * Allocates the memory that threads have for themselves, anew each time, and returns the model of threads that have
   * it; absent where they have it, or there is none. Work items that do without threads do without it: zeroing and
   * saving it would take longer than many a launch.
   */
  readonly open?: () => ThreadModel;
  /** The most groups that may run at the same time, as there is memory for so many; absent: up to the schedule. */
  readonly residentGroups?: number;
}
