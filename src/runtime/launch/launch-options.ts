import type { MatrixSums } from "../../ir/index.ts";
import type { Observer } from "../../machine/events.ts";
import type { LaunchRequest, LaunchResult, SanitizerName, Steering } from "../../machine/launch.ts";
import type { KernelArgument } from "../data/argument.ts";
import type { BlockSelection } from "./block-selection.ts";
import type { LaunchSize } from "./launch-plan.ts";
import type { Stream } from "./stream.ts";

/** How launches are run, watched and limited. */
export interface LaunchDefaults {
  /**
   * The engine that runs kernels: "jit" for compiled code, "native" for machine code that the host's C compiler makes
   * of compiled code (`DeviceOptions.nativeCompiler`), "tiered" for compiled code until a kernel has run for long and
   * machine code from then on, or "interpreter", which is the reference.
   * Observers, a chosen schedule, and limits on steps or time need the interpreter, and so does a kernel that cannot be
   * compiled, or of which sanitizers have found something; "jit" runs what "native" cannot. `KernelResult.engine` says
   * which one ran. Default: "jit", and "tiered" on a device with a `nativeCompiler`.
   */
  readonly engine?: EngineChoice;
  /**
   * The number of host threads that may run blocks of a compiled kernel at the same time: the calling thread, and
   * workers if there is enough to do. With more than one, blocks interact in no particular order, as on a GPU. Only one
   * is used where workers are not available, or where the calling thread may not block (the main thread of a page: see
   * `launchAsync`); and never many more than the machine has cores. At least 1. Default: 1.
   */
  readonly hostThreads?: number;
  /**
   * The sanitizers that watch the launch: "all", or one or some of `sanitizerNames`. Faults (an access outside every
   * allocation, ...) are found without them. Default: none.
   */
  readonly sanitize?: "all" | SanitizerName | Iterable<SanitizerName>;
  /** Permutes the schedule of the threads; the same seed gives the same run. Default: the usual schedule. */
  readonly seed?: number;
  /** Chooses the schedule step by step. A seed takes precedence. */
  readonly steering?: Steering;
  /**
   * How products of matrices of floats of up to 32 bits (`mma`, `wmma`, `wgmma`, `tcgen05.mma`) are summed: "hardware",
   * in the order and with the truncation that the literature has found on GPUs, or "exact", where the exact sum is
   * rounded once, to nearest even. Products of doubles are chains of fused multiply-adds either way. Default:
   * "hardware".
   */
  readonly matrix?: MatrixSums;
  /** The number of thread-instructions after which the launch ends with a `no-progress` report. Default: no limit. */
  readonly maxSteps?: number;
  /** The time in milliseconds after which the launch ends with a `no-progress` report. Default: no limit. */
  readonly timeoutMs?: number;
}

/** The ways in which products of matrices are summed. */
export const matrixSums = ["hardware", "exact"] as const satisfies readonly MatrixSums[];
/** The engines that every host has. Either runs everything that is executable. */
export const usualEngines = ["interpreter", "jit"] as const;
/** All engines. */
export const engineNames = [...usualEngines, "native"] as const;
/** What can be asked for: an engine, or compiled code first and machine code of what runs for long. */
export const engineChoices = [...engineNames, "tiered"] as const;
/** The engine that runs a kernel: the interpreter, compiled code, or machine code made of that. @useDeclaredType */
export type EngineName = (typeof engineNames)[number];
/** How kernels are to run: one of the engines, or several in turn. @useDeclaredType */
export type EngineChoice = (typeof engineChoices)[number];

/**
 * The options of a launch: its size and arguments, and how it is watched and limited. Where an option is absent, the
 * default of the device applies.
 */
export type LaunchOptions = LaunchSize & LaunchSettings;

/** The options of `Kernel.launchAsync`. */
export type AsyncLaunchOptions = LaunchOptions & {
  /** The launch runs after those enqueued earlier in the same stream. Default: the device's default stream. */
  readonly stream?: Stream;
};

/** The options of a launch apart from its size. */
export interface LaunchSettings extends LaunchDefaults {
  /** One argument for each parameter of the kernel, in order. Default: none. */
  readonly args?: readonly KernelArgument[];
  /**
   * The blocks (vISA: groups) that run, by their linear indices, as in `[[0, 99], 200]`. The size of the grid stays
   * what it is, and kernels do not notice. Default: all.
   */
  readonly blocks?: BlockSelection;
  /** Whether the clocks of threads are the host's. Default: false, so that each run is the same. @internal */
  readonly hostClock?: boolean;
  /** The values of %envreg1 and %envreg2, where code for cooperative launches finds what its blocks share. @internal */
  readonly environment?: readonly [number, number];
  /** What kernels may ask of the device. @internal */
  readonly deviceFacts?: LaunchRequest["deviceFacts"];
  /** What a kernel that is a node of a graph may do with graphs. @internal */
  readonly deviceGraphs?: LaunchRequest["deviceGraphs"];
  /**
   * Called from time to time during a long launch, with the number of blocks done and in all, and of steps
   * (thread-instructions; null in compiled code, which does not count them).
   */
  readonly onProgress?: LaunchRequest["onProgress"];
  /** Called with each piece of text that the kernel prints, as it is printed; `KernelResult.stdout` has all of it. */
  readonly onOutput?: (text: string) => void;
  /**
   * Called with each report as soon as it is found, and with all so far. More threads may be added to it later;
   * `KernelResult.reports` has all of them.
   */
  readonly onReport?: LaunchRequest["onReport"];
  /** Called with each launch just before it runs: this one, and those that its kernel makes. @internal */
  readonly onBegin?: (request: LaunchRequest) => void;
  /** Observers of the launch, in addition to the sanitizers. */
  readonly observers?: readonly Observer[];
}

/** The result of a launch, as an engine reports it. */
export interface EngineResult extends LaunchResult {
  /** The engine that ran the kernel. */
  readonly engine: EngineName;
  /** The reason why the interpreter ran the kernel; null if compiled code did. */
  readonly interpreted: string | null;
  /**
   * The reason why "jit" ran the kernel although "native" was asked for, or why it stays with "jit" although "tiered"
   * was; absent otherwise.
   */
  readonly notNative?: string;
  /** The number of host threads that ran blocks. */
  readonly hostThreads: number;
}

/**
 * The result of a launch. `ok` is false if the kernel faulted or a sanitizer found an error; `reports` then says what
 * happened.
 */
export interface KernelResult extends EngineResult {
  /** The number of threads launched (work items in vISA). */
  readonly threads: number;
  /** The time that the launch took, in milliseconds. */
  readonly milliseconds: number;
  /** Everything that the kernel printed. */
  readonly stdout: string;
}

/** The names of all sanitizers. */
export const sanitizerNames: readonly SanitizerName[] = ["call", "init", "memory", "race", "sync"];
