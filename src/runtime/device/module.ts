import { Execution } from "../../interpreter/execution.ts";
import { launch } from "../../interpreter/index.ts";
import { loadProgram, type Program } from "../../program/program.ts";
import { findObstacle, type Obstacle } from "../../program/obstacle.ts";
import type { IrFunction, IrModule } from "../../ir/index.ts";
import { JitProgram } from "../../jit/run/jit-program.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
import { type Diagnostic, nearest } from "../../source/index.ts";
import { NotExecutableError, UsageError } from "../data/errors.ts";
import type { Isa } from "../data/isa.ts";
import { deviceFunctions } from "../launch/device-functions.ts";
import {
  type AsyncLaunchOptions,
  type EngineResult,
  type KernelResult,
  type LaunchOptions,
  sanitizerNames,
} from "../launch/launch-options.ts";
import { dim3, type LaunchPlan } from "../launch/launch-plan.ts";
import { PreparedLaunch } from "../launch/prepared-launch.ts";
import { isProvided } from "../launch/provided-names.ts";
import { planPtx } from "../launch/ptx-plan.ts";
import type { VisaProgram } from "../visa/program.ts";
import type { DeviceCore } from "./device-core.ts";

/** A program in a device: the kernels of one PTX module or of several linked ones, or of the files of a vISA program. */
export class Module {
  /** The device into which it was loaded. */
  readonly device: DeviceCore;
  /** The program in lane IR. */
  readonly ir: IrModule;
  /** Warnings of the checker. */
  readonly diagnostics: readonly Diagnostic[];
  readonly #program: Program;
  readonly #visa: VisaProgram | null;
  readonly #cache: () => KernelCache | null;
  #jit: JitProgram | null = null;

  /**
   * Use `Device.load`. `cache`: where kernels may have been compiled before, asked for when one is compiled; `visa`: how kernels of
   * vISA are launched.
   *
   * @internal
   */
  constructor(
    device: DeviceCore,
    ir: IrModule,
    diagnostics: readonly Diagnostic[],
    cache: () => KernelCache | null,
    visa: VisaProgram | null = null,
  ) {
    this.device = device;
    this.ir = ir;
    this.diagnostics = diagnostics;
    this.#program = loadProgram(device.memory, ir, { externals: deviceFunctions });
    this.#cache = cache;
    this.#visa = visa;
  }

  /** The instruction set of its sources. */
  get isa(): Isa {
    return this.#visa === null ? "ptx" : "visa";
  }

  /** The names of the kernels, in the order of the source. */
  get kernels(): string[] {
    return this.ir.functions.filter((f) => f.kind === "kernel").map((f) => f.name);
  }

  /**
   * A kernel by its name; without one, the only kernel that there is.
   *
   * @throws UsageError when there is no such kernel
   */
  kernel(name = this.#onlyKernel()): Kernel {
    const found = this.ir.functions.find((f) => f.kind === "kernel" && f.name === name);
    if (found) {
      return new Kernel(this, found, {
        plan: (options) => this.#plan(found, options),
        run: (launched) => this.#run(launched),
        runAsync: (launched) => this.#runAsync(launched),
        mayBeUndone: (launched) => this.#mayBeUndone(launched),
        begin: ({ request, observers }) => new Execution(this.#program, request, { observers }),
      });
    }
    const meant = nearest(name, this.kernels);
    const kernels = this.kernels.map((k) => `"${k}"`).join(", ") || "none";
    throw new UsageError(`there is no kernel "${name}"; ${meant ? `did you mean "${meant}"?` : `there is ${kernels}`}`);
  }

  #onlyKernel(): string {
    const [first, ...others] = this.kernels;
    if (first === undefined) throw new UsageError("the program has no kernel");
    if (others.length === 0) return first;
    throw new UsageError(`which kernel? There are ${this.kernels.map((k) => `"${k}"`).join(", ")}`);
  }

  #run(launched: PreparedLaunch): EngineResult {
    if (this.device.memory.pending.areOpen) {
      throw new UsageError("launches are in flight on the device: await their results first, or use `launchAsync`");
    }
    const { request } = launched;
    const jit = this.#jitFor(launched);
    if (typeof jit === "string") return this.#interpret(launched, jit);
    const result = jit.obstacleOf(request) === null ? jit.launch(request) : null;
    if (result !== null) return { ...result, engine: "jit", interpreted: null };
    return this.#interpret(launched, notCompiled(jit.obstacleOf(request)));
  }

  async #runAsync(launched: PreparedLaunch): Promise<EngineResult> {
    const { request } = launched;
    const jit = this.#jitFor(launched);
    if (typeof jit === "string") return this.#interpret(launched, jit);
    const obstacle = jit.obstacleOf(request, true);
    if (obstacle !== null) return this.#interpret(launched, notCompiled(obstacle));
    const result = await jit.launchAsync(request);
    if (result !== null) return { ...result, engine: "jit", interpreted: null };
    return this.#interpret(launched, notCompiled(jit.obstacleOf(request, true)));
  }

  /** Whether a launch apart may have to be undone. */
  #mayBeUndone(launched: PreparedLaunch): boolean {
    const jit = this.#jitFor(launched);
    return (
      typeof jit !== "string" && jit.obstacleOf(launched.request, true) === null && jit.mayBeUndone(launched.request)
    );
  }

  #interpret({ request, observers }: PreparedLaunch, why: string): EngineResult {
    const result = launch(this.#program, request, { observers });
    return { ...result, engine: "interpreter", interpreted: why, hostThreads: 1 };
  }

  /** The compiler, or why it is not asked: compiled code takes no notice of what only the interpreter does. */
  #jitFor({
    request: { seed, steering, maxSteps, timeoutMs },
    observers,
    engine,
  }: PreparedLaunch): JitProgram | string {
    if (engine === "interpreter") return "the interpreter was asked for";
    if (observers.length > 0) return "sanitizers or other observers watch";
    if (seed !== undefined || steering !== undefined) return "the schedule is chosen";
    if (maxSteps !== undefined) return "steps are limited";
    if (timeoutMs !== undefined) return "time is limited";
    return (this.#jit ??= new JitProgram(this.#program, null, this.#cache()));
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
  readonly run: (launched: PreparedLaunch) => EngineResult;
  readonly runAsync: (launched: PreparedLaunch) => Promise<EngineResult>;
  /** Whether no other launch may run at the same time as such a one. */
  readonly mayBeUndone: (launched: PreparedLaunch) => boolean;
  readonly begin: (launched: PreparedLaunch) => Execution;
}

/** A launch in the interpreter that whoever began it takes through its instructions. */
export interface BegunLaunch {
  /** The launch, before its first instruction. */
  readonly execution: Execution;
  /** Takes back what the launch needed besides its arguments, and prints what it has left to print. Call once, at its end. */
  readonly end: () => void;
}

/** A function of a module that can be launched. */
export class Kernel {
  /** The module of the kernel. */
  readonly module: Module;
  /** The kernel in lane IR. */
  readonly ir: IrFunction;
  readonly #launcher: Launcher;
  #obstacle: { readonly found: Obstacle | null } | null = null;

  /** Use `Module.kernel`. @internal */
  constructor(module: Module, ir: IrFunction, launcher: Launcher) {
    this.module = module;
    this.ir = ir;
    this.#launcher = launcher;
  }

  /** Its name in the source. */
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
    const prepared = this.#prepare(options);
    return prepared.end(() => this.#launcher.run(prepared));
  }

  /**
   * The same without keeping the caller waiting: workers run the blocks, one if `hostThreads` does not say more. What needs the
   * interpreter, or a host without workers, runs in the calling thread when its turn has come. Arguments are taken now; buffers that
   * the launch can know of may not be touched before its result is there.
   *
   *     const results = await Promise.all([first.launchAsync(a), second.launchAsync(b)]); // one after the other
   *
   * The result rejects with what `launch` throws.
   */
  async launchAsync(options: AsyncLaunchOptions): Promise<KernelResult> {
    const { memory, defaultStream } = this.module.device;
    const prepared = this.#prepare(options);
    memory.pending.begin();
    try {
      const { stream = defaultStream } = options;
      const run = (): Promise<KernelResult> => prepared.endAsync(() => this.#launcher.runAsync(prepared));
      return await stream.enqueue(() => memory.pending.inTurn(this.#launcher.mayBeUndone(prepared), run));
    } finally {
      memory.pending.end();
    }
  }

  /** Begins a launch to be taken step by step, as a debugger does. Throws as `launch` does. */
  begin(options: LaunchOptions): BegunLaunch {
    const prepared = this.#prepare(options);
    return { execution: this.#launcher.begin(prepared), end: () => prepared.close() };
  }

  #prepare(options: LaunchOptions): PreparedLaunch {
    const { defaults } = this.module.device;
    this.requireExecutable();
    const plan = this.#launcher.plan(options);
    const sanitize = options.sanitize ?? defaults.sanitize ?? [];
    const sanitizers = sanitize === "all" ? sanitizerNames : [...sanitize];
    return new PreparedLaunch(this.name, plan, sanitizers, options, defaults);
  }
}

const notCompiled = (obstacle: string | null): string => `not compiled: ${obstacle}`;
