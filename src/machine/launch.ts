import type { Dim3, Report } from "./reports/report.ts";
import type { Group } from "./state/launch-state.ts";
import type { ThreadModel } from "./state/thread-model.ts";

/** What `--sanitize` turns on. */
export type SanitizerName = "call" | "memory" | "init" | "race" | "sync";

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
