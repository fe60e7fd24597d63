import type { Dim3, Report } from "./report.ts";

/** What `--sanitize` turns on; `race` and `init` are still to come. */
export type SanitizerName = "call" | "memory" | "init" | "race" | "sync";

export interface LaunchRequest {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** The kernel's parameter block, laid out as its parameters say. */
  readonly params: Uint8Array;
  readonly sanitize?: ReadonlySet<SanitizerName>;
  /** Permutes the schedule; the same seed gives the same run. */
  readonly seed?: number;
  /** Thread-instructions after which the launch ends with `no-progress`. */
  readonly maxSteps?: number;
  /** Wall-clock milliseconds after which the launch ends with `no-progress`. */
  readonly timeoutMs?: number;
  /** Called now and then in a long launch. */
  readonly onProgress?: (progress: {
    readonly blocksDone: number;
    readonly blocks: number;
    readonly steps: number;
  }) => void;
  /** What kernels print (`vprintf`), as bytes decoded to text. */
  readonly onOutput?: (text: string) => void;
}

export interface LaunchResult {
  /** False when a fault ended the launch or a sanitizer reported an error. */
  readonly ok: boolean;
  /** Executed thread-instructions. */
  readonly steps: number;
  readonly reports: readonly Report[];
}
