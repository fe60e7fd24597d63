import type { MatrixSums } from "../ir/index.ts";
import type { Extent } from "./memory/extent.ts";
import type { Dim3, Report, ReportListener } from "./reports/report.ts";
import type { DeviceFacts, DeviceGraphs, DeviceWork } from "./state/device-work.ts";
import type { Group } from "./state/launch-state.ts";
import type { ThreadModel } from "./state/thread-model.ts";

/** The sanitizers: see docs/sanitizers.md. */
export type SanitizerName = "call" | "memory" | "init" | "race" | "sync";

/** Decides a schedule where it may go one way or another; see docs/explore.md. The same answers give the same run. */
export interface Steering {
  /**
   * Returns which of the `ways` (at least two) to go, counting from 0. Way 0 is to continue with `current`, lanes that
   * are about to access memory that others see; if that is null, with the next of those that can run. `groupOf`: the
   * lanes that continue on a way; it may be called only during the call of `choose`.
   */
  choose(ways: number, current: Group | null, groupOf: (way: number) => Group): number;
}

/** Blocks by their linear indices (x fastest): from the first one to the one after the last. */
export type BlockRange = readonly [from: number, to: number];

/** The number of blocks in some ranges. */
export const blocksIn = (ranges: readonly BlockRange[]): number =>
  ranges.reduce((sum, [from, to]) => sum + to - from, 0);

/** The blocks of a launch that run, in order. */
export const blocksOf = ({ grid, blocks }: Pick<LaunchRequest, "grid" | "blocks">): readonly BlockRange[] =>
  blocks ?? [[0, grid[0] * grid[1] * grid[2]]];

/** Where the words lie that watched code has for an allocation: at addresses at which a kernel has nothing else. */
export interface ShadowRange {
  readonly address: bigint;
  readonly bytes: number;
  /** The byte of the device's memory. */
  readonly at: number;
}

/** Memory that watched code has besides what the launch gives its kernel. */
export interface LaunchShadow {
  /** Bytes of a block's shared memory, and all that lies in it. */
  readonly sharedBytes: number;
  readonly sharedExtents: readonly Extent[];
  /** By the offset of the parameter that points there. */
  readonly ranges: ReadonlyMap<number, ShadowRange>;
}

/** A launch, as an engine takes it. */
export interface LaunchRequest {
  /** Its name. */
  readonly kernel: string;
  /** Blocks of the grid, and threads of a block. */
  readonly grid: Dim3;
  readonly block: Dim3;
  /**
   * The grid and the blocks that were asked for, where compiled code runs the same threads in other blocks.
   */
  readonly asked?: Pick<LaunchRequest, "grid" | "block"> & {
    /**
     * Where threads are in these other blocks: those with the same global index, with x and y exchanged; or neighbours
     * along x lie one after the other in each of those, in a direction in which they are one thread deep.
     */
    readonly placement: "same" | "transposed" | "alongX" | "alongY" | "alongZ";
    /** What lies in the shared memory of those blocks, if that is not what the program's variables say. */
    readonly sharedExtents: readonly Extent[] | null;
  };
  /** Blocks of a cluster; default: what the kernel says (`.reqnctapercluster`), or else one. */
  readonly cluster?: Dim3;
  /** The blocks that run, in order and disjoint; default: all. The others count as blocks of the grid nonetheless. */
  readonly blocks?: readonly BlockRange[];
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** The kernel's parameter block, at the offsets of its parameters. */
  readonly params: Uint8Array;
  /**
   * Hardware threads of a vISA kernel: then `grid` counts groups, `block` work items, `sharedBytes` is the size of SLM,
   * `params` has the values of which `threads.items` knows the places.
   */
  readonly threads?: ThreadModel;
  readonly sanitize?: ReadonlySet<SanitizerName>;
  /** Of a launch whose compiled code watches itself. */
  readonly shadow?: LaunchShadow;
  /** Permutes the schedule; the same seed gives the same run. */
  readonly seed?: number;
  /** Decides the order in which warps run, access by access; then there is no seed. */
  readonly steering?: Steering;
  /** Thread-instructions after which the launch ends with `no-progress`. */
  readonly maxSteps?: number;
  /** Wall-clock milliseconds after which the launch ends with `no-progress`. */
  readonly timeoutMs?: number;
  /** The values of %envreg1 and %envreg2. Default: 0. */
  readonly environment?: readonly [number, number];
  /**
   * Whether the clocks of threads are the host's, in nanoseconds. Default: they show what has been executed, so that
   * each run is the same.
   */
  readonly hostClock?: boolean;
  /** How products of matrices are summed. Default: "hardware". */
  readonly matrix?: MatrixSums;
  /** Threads of the host that may run blocks at the same time, the calling one included. Default: 1. */
  readonly hostThreads?: number;
  /** Called now and then in a long launch. `steps` is null in compiled code, which does not count them. */
  readonly onProgress?: (progress: {
    readonly blocksDone: number;
    readonly blocks: number;
    readonly steps: number | null;
  }) => void;
  /**
   * Called with each new report, and all so far, as soon as it is found. More threads may be added to it, and a data
   * race may replace a report of an uninitialized read.
   */
  readonly onReport?: ReportListener;
  /** What kernels print (`vprintf`), as bytes decoded to text. */
  readonly onOutput?: (text: string) => void;
  /**
   * Called with each piece of work that the kernel hands to the device. Default: it cannot, and gets an error.
   * @internal
   */
  readonly onDeviceWork?: (work: DeviceWork) => void;
  /** What kernels may ask of the device. Default: they get an error. @internal */
  readonly deviceFacts?: DeviceFacts;
  /** Of a kernel that is a node of a graph: what it may do with graphs. Default: it gets errors. @internal */
  readonly deviceGraphs?: DeviceGraphs;
}

/** The end of a launch. */
export interface LaunchResult {
  /** False when a fault ended the launch or a sanitizer reported an error. */
  readonly ok: boolean;
  /** Executed thread-instructions; null in compiled code, which does not count them. */
  readonly steps: number | null;
  /** The fault, if there was one, and what sanitizers found; in the order of time. */
  readonly reports: readonly Report[];
}

export type Placement = NonNullable<LaunchRequest["asked"]>["placement"];

const axes = { same: null, transposed: null, alongX: 0, alongY: 1, alongZ: 2 } as const;

/** The direction in which blocks lie one after the other: x, y or z; null if they do not. */
export const axisOf = (placement: Placement): 0 | 1 | 2 | null => axes[placement];
