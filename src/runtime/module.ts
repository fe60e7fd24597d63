import { launch, loadProgram, type Program } from "../interpreter/index.ts";
import { findObstacle, type Obstacle } from "../interpreter/reachable.ts";
import type { IrFunction, IrModule } from "../ir/index.ts";
import { JitProgram } from "../jit/launch.ts";
import type { Observer } from "../machine/events.ts";
import type { LaunchRequest, LaunchResult, SanitizerName, Surface } from "../machine/launch.ts";
import { sanitizersFor } from "../sanitizers/index.ts";
import { type Diagnostic, nearest } from "../source/index.ts";
import type { KernelArgument } from "./argument.ts";

import { deviceFunctions } from "./device-functions.ts";
import { NotExecutableError, UsageError } from "./errors.ts";
import type { Isa } from "./isa.ts";
import { dim3, type LaunchPlan, type LaunchSize } from "./launch-plan.ts";
import { isProvided } from "./provided-names.ts";
import type { PtxDevice } from "./ptx-device.ts";
import { planPtx } from "./ptx-plan.ts";
import type { VisaProgram } from "./visa/program.ts";

/** How launches are watched and limited. */
export interface LaunchDefaults {
  /**
   * What runs kernels: compiled code, or the interpreter, which is the reference. Sanitizers, observers, seeds and step limits
   * need the interpreter, and so does a kernel that cannot be compiled; the result says which one it was.
   */
  readonly engine?: EngineName;
  /** Which sanitizers watch. Faults (an access outside every allocation, ...) are always found. */
  readonly sanitize?: "all" | Iterable<SanitizerName>;
  /** Permutes the schedule of the threads; the same seed gives the same run. */
  readonly seed?: number;
  /** Thread-instructions after which the launch ends with a `no-progress` report. */
  readonly maxSteps?: number;
  /** Milliseconds after which the launch ends with a `no-progress` report. */
  readonly timeoutMs?: number;
}

export type EngineName = "interpreter" | "jit";

export type LaunchOptions = LaunchSize & LaunchSettings;

interface LaunchSettings extends LaunchDefaults {
  /** One for each parameter of the kernel, in their order. */
  readonly args?: readonly KernelArgument[];
  readonly onProgress?: LaunchRequest["onProgress"];
  /** What the kernel prints, as it prints it; the result has it as a whole. */
  readonly onOutput?: (text: string) => void;
  /** Who else watches, besides the sanitizers. */
  readonly observers?: readonly Observer[];
}

export interface KernelResult extends LaunchResult {
  /** Threads of the grid; work items in vISA. */
  readonly threads: number;
  readonly milliseconds: number;
  /** What the kernel printed. */
  readonly stdout: string;
  /** What has run it. */
  readonly engine: EngineName;
}

/** The sanitizers that there are. */
export const sanitizerNames: readonly SanitizerName[] = ["call", "init", "memory", "sync"];

/** A program in a device: the kernels of one PTX module or of several linked ones, or of the files of a vISA program. */
export class Module {
  readonly device: PtxDevice;
  readonly ir: IrModule;
  /** Warnings of the checker. */
  readonly diagnostics: readonly Diagnostic[];
  readonly #program: Program;
  readonly #visa: VisaProgram | null;
  #jit: JitProgram | null = null;

  /** Use `Device.load`. `visa`: how kernels of vISA are launched. */
  constructor(device: PtxDevice, ir: IrModule, diagnostics: readonly Diagnostic[], visa: VisaProgram | null = null) {
    this.device = device;
    this.ir = ir;
    this.diagnostics = diagnostics;
    this.#program = loadProgram(device.memory, ir, { externals: deviceFunctions });
    this.#visa = visa;
  }

  get isa(): Isa {
    return this.#visa === null ? "ptx" : "visa";
  }

  /** The names of the kernels, in the order of the source. */
  get kernels(): string[] {
    return this.ir.functions.filter((f) => f.kind === "kernel").map((f) => f.name);
  }

  /** @throws UsageError when there is no such kernel */
  kernel(name: string): Kernel {
    const found = this.ir.functions.find((f) => f.kind === "kernel" && f.name === name);
    if (found) {
      return new Kernel(this, found, {
        plan: (options) => this.#plan(found, options),
        run: (request, observers, engine) => this.#run(request, observers, engine),
      });
    }
    const meant = nearest(name, this.kernels);
    const kernels = this.kernels.map((k) => `"${k}"`).join(", ") || "none";
    throw new UsageError(
      `there is no kernel "${name}"${meant ? `; did you mean "${meant}"?` : `; there are ${kernels}`}`,
    );
  }

  /** Compiled code takes no notice of what only the interpreter does. */
  #run(request: LaunchRequest, observers: readonly Observer[], engine: EngineName): EngineResult {
    const watched = observers.length > 0 || request.seed !== undefined || request.maxSteps !== undefined;
    if (engine === "jit" && !watched && request.timeoutMs === undefined) {
      this.#jit ??= new JitProgram(this.#program);
      if (this.#jit.obstacleOf(request) === null) return { ...this.#jit.launch(request), engine };
    }
    return { ...launch(this.#program, request, { observers }), engine: "interpreter" };
  }

  #plan(kernel: IrFunction, options: LaunchOptions): LaunchPlan {
    const { memory } = this.device;
    const { args = [] } = options;
    if (this.#visa === null) return planPtx(kernel, options, args, { memory, addressSize: this.ir.addressSize });
    if (options.global === undefined || options.local === undefined) {
      throw new UsageError(`kernel "${kernel.name}" is vISA: give \`global\` and \`local\`, in work items`);
    }
    const section = (name: string): Surface => ({
      address: this.#program.addressOf(name) ?? 0n,
      bytes: this.#program.variables.get(name)?.variable.size ?? 0,
    });
    return this.#visa.plan(kernel.name, dim3(options.global), dim3(options.local), args, { memory, section });
  }
}

/** What a kernel needs of its module. */
interface Launcher {
  readonly plan: (options: LaunchOptions) => LaunchPlan;
  readonly run: (request: LaunchRequest, observers: readonly Observer[], engine: EngineName) => EngineResult;
}

interface EngineResult extends LaunchResult {
  readonly engine: EngineName;
}

/** A function of a module that can be launched. */
export class Kernel {
  readonly module: Module;
  readonly ir: IrFunction;
  readonly #launcher: Launcher;
  #obstacle: { readonly found: Obstacle | null } | null = null;

  /** Use `Module.kernel`. */
  constructor(module: Module, ir: IrFunction, launcher: Launcher) {
    this.module = module;
    this.ir = ir;
    this.#launcher = launcher;
  }

  get name(): string {
    return this.ir.name;
  }

  /**
   * Whether everything that the kernel can reach is modelled; no launch starts otherwise.
   *
   * @throws NotExecutableError when the kernel can reach an instruction that is not modelled
   */
  requireExecutable(): void {
    this.#obstacle ??= { found: findObstacle(this.module.ir, this.ir, isProvided) };
    const obstacle = this.#obstacle.found;
    if (obstacle === null) return;
    const { function: f, index, message } = obstacle;
    const { span } = f.instructions[index]!;
    throw new NotExecutableError(this.name, message, { source: f.source, span });
  }

  /**
   * Runs the kernel to its end. A fault and what sanitizers find do not throw: they are `reports` of the result, and `ok`
   * is false.
   *
   * @throws UsageError when arguments or sizes do not fit the kernel
   * @throws NotExecutableError when the kernel can reach an instruction that is not modelled
   */
  launch(options: LaunchOptions): KernelResult {
    const { defaults } = this.module.device;
    const { onProgress, onOutput, observers = [] } = options;
    this.requireExecutable();
    const { request: shape, threads, finish } = this.#launcher.plan(options);

    const seed = options.seed ?? defaults.seed;
    const maxSteps = options.maxSteps ?? defaults.maxSteps;
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
    const engine = options.engine ?? defaults.engine ?? "interpreter";
    const sanitize = options.sanitize ?? defaults.sanitize ?? [];
    let stdout = "";
    const print = (text: string): void => {
      stdout += text;
      onOutput?.(text);
    };
    const started = performance.now();
    const names = sanitize === "all" ? sanitizerNames : [...sanitize];
    const request: LaunchRequest = {
      kernel: this.name,
      ...shape,
      sanitize: new Set(names),
      onOutput: print,
      ...(seed === undefined ? {} : { seed }),
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(onProgress === undefined ? {} : { onProgress }),
    };
    let result: EngineResult;
    let left = "";
    try {
      result = this.#launcher.run(request, [...sanitizersFor(names), ...observers], engine);
    } finally {
      left = finish?.() ?? "";
    }
    if (left !== "") print(left);
    return { ...result, threads, milliseconds: performance.now() - started, stdout };
  }
}
