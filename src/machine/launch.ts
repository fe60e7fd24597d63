import type { Group } from "./group.ts";
import type { Dim3, Report } from "./report.ts";

/** What `--sanitize` turns on. */
export type SanitizerName = "call" | "memory" | "init" | "race" | "sync";

/** Memory behind an index of the binding table (vISA): bytes from a device address on. */
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
  /** The place that its group has while it runs: groups that run at the same time have different ones, counted from 0. */
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
  /** What of the kernel's variables the payload fills; absent: all of them. */
  readonly payload?: readonly { readonly at: number; readonly size: number }[];
  /** By index: that of the binding table, or one of `surfaceIndex`. */
  readonly surfaces: ReadonlyMap<number, Surface>;
  /** Groups that may run at the same time, because there is memory for so many threads; absent: as the schedule likes. */
  readonly residentGroups?: number;
}

/** Decides where a schedule may go one way or another; see docs/explore.md. The same answers give the same run. */
export interface Steering {
  /**
   * Which of the `ways` to go, of which there are at least two. Way 0 is to go on with `current`, lanes that are about to
   * access memory that others see; or, where it is null, with the next of those that can run. `groupOf`: who goes on by a way;
   * it may be asked only during the call.
   */
  choose(ways: number, current: Group | null, groupOf: (way: number) => Group): number;
}

export interface LaunchRequest {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** The kernel's parameter block, laid out as its parameters say. */
  readonly params: Uint8Array;
  /** Of a vISA kernel: `grid` counts groups, `block` work items, `sharedBytes` is the size of SLM, `params` is empty. */
  readonly threads?: ThreadModel;
  readonly sanitize?: ReadonlySet<SanitizerName>;
  /** Permutes the schedule; the same seed gives the same run. */
  readonly seed?: number;
  /** Decides the order in which warps run, access by access; then there is no seed. */
  readonly steering?: Steering;
  /** Thread-instructions after which the launch ends with `no-progress`. */
  readonly maxSteps?: number;
  /** Wall-clock milliseconds after which the launch ends with `no-progress`. */
  readonly timeoutMs?: number;
  /** Threads of the host that may run blocks at the same time, the calling one included. Default: 1. */
  readonly hostThreads?: number;
  /** Called now and then in a long launch. `steps` is null where they are not counted, in compiled code. */
  readonly onProgress?: (progress: {
    readonly blocksDone: number;
    readonly blocks: number;
    readonly steps: number | null;
  }) => void;
  /** What kernels print (`vprintf`), as bytes decoded to text. */
  readonly onOutput?: (text: string) => void;
}

export interface LaunchResult {
  /** False when a fault ended the launch or a sanitizer reported an error. */
  readonly ok: boolean;
  /** Executed thread-instructions; null where they are not counted, in compiled code. */
  readonly steps: number | null;
  readonly reports: readonly Report[];
}
