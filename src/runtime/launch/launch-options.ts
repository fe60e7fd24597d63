import type { Observer } from "../../machine/events.ts";
import type { LaunchRequest, LaunchResult, SanitizerName, Steering } from "../../machine/launch.ts";
import type { KernelArgument } from "../data/argument.ts";
import type { LaunchSize } from "./launch-plan.ts";
import type { Stream } from "./stream.ts";

/** How launches are watched and limited. */
export interface LaunchDefaults {
  /**
   * What runs kernels: compiled code, or the interpreter, which is the reference. Sanitizers, observers, seeds and step limits
   * need the interpreter, and so does a kernel that cannot be compiled; the result says which one it was. Default: "jit".
   */
  readonly engine?: EngineName;
  /**
   * Threads of the host that may run blocks at the same time where the kernel is compiled: the calling thread, and workers if
   * there is enough to do. With more than one, what blocks do to each other happens in no certain order, as on a GPU. Where there
   * can be no workers, and where the calling thread may not wait (the main thread of a page: see `launchAsync`), it is one. Many more
   * than the machine has cores are not started. Default: 1.
   */
  readonly hostThreads?: number;
  /** Which sanitizers watch. Faults (an access outside every allocation, ...) are always found. */
  readonly sanitize?: "all" | Iterable<SanitizerName>;
  /** Permutes the schedule of the threads; the same seed gives the same run. */
  readonly seed?: number;
  /** Decides the schedule, where no seed does. */
  readonly steering?: Steering;
  /** Thread-instructions after which the launch ends with a `no-progress` report. */
  readonly maxSteps?: number;
  /** Milliseconds after which the launch ends with a `no-progress` report. */
  readonly timeoutMs?: number;
}

/** Either runs whatever is executable. */
export const engineNames = ["interpreter", "jit"] as const;
/** An engine: "jit" compiles to WebAssembly, "interpreter" is the reference. @useDeclaredType */
export type EngineName = (typeof engineNames)[number];

/** The options of `Kernel.launch`: the size of the launch, its arguments, and how it is watched and limited. */
export type LaunchOptions = LaunchSize & LaunchSettings;

/** The options of `Kernel.launchAsync`. */
export type AsyncLaunchOptions = LaunchOptions & {
  /** After whose launches it runs. Default: those of the device that name none. */
  readonly stream?: Stream;
};

/** The options of a launch apart from its size. */
export interface LaunchSettings extends LaunchDefaults {
  /** One for each parameter of the kernel, in their order. */
  readonly args?: readonly KernelArgument[];
  /** Called now and then in a long launch. `steps` is null in compiled code, which does not count them. */
  readonly onProgress?: LaunchRequest["onProgress"];
  /** What the kernel prints, as it prints it; the result has it as a whole. */
  readonly onOutput?: (text: string) => void;
  /** Who else watches, besides the sanitizers. */
  readonly observers?: readonly Observer[];
}

/** What an engine says of a launch. */
export interface EngineResult extends LaunchResult {
  /** What has run it. */
  readonly engine: EngineName;
  /** Why it was not compiled code; null where it was. */
  readonly interpreted: string | null;
  /** Threads of the host that have run blocks. */
  readonly hostThreads: number;
}

/** The result of a launch. */
export interface KernelResult extends EngineResult {
  /** Threads of the grid; work items in vISA. */
  readonly threads: number;
  /** Wall-clock time, from the launch to its end. */
  readonly milliseconds: number;
  /** What the kernel printed. */
  readonly stdout: string;
}

/** The sanitizers that there are. */
export const sanitizerNames: readonly SanitizerName[] = ["call", "init", "memory", "race", "sync"];
