import { signatureOf } from "../../names/index.ts";
import type { Execution } from "../../interpreter/execution.ts";
import { loadProgram, type Program } from "../../program/program.ts";
import type { Obstacle } from "../../program/obstacle.ts";
import type { IrFunction, IrModule } from "../../ir/index.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
import type { Diagnostic } from "../../source/index.ts";
import { NotExecutableError, UsageError } from "../data/errors.ts";
import type { Isa } from "../data/isa.ts";
import { type ParameterType, parameterTypes } from "../data/parameter-type.ts";
import { ModuleVariable } from "../data/module-variable.ts";
import { deviceFunctions } from "../launch/device-functions.ts";
import type {
  AsyncLaunchOptions,
  EngineResult,
  KernelResult,
  LaunchOptions,
  LaunchSettings,
} from "../launch/launch-options.ts";
import { requireLaunchOptions, sanitizersIn } from "../launch/known-options.ts";
import { arePlain, plainSettings, unwatchedSettings } from "../launch/plain-launch.ts";
import { dim3, type LaunchPlan } from "../launch/launch-plan.ts";
import { PreparedLaunch } from "../launch/prepared-launch.ts";
import { type LaunchStep, type LaunchSteps, launchSteps } from "../launch/device-work.ts";
import { isDeviceWork } from "../launch/provided-names.ts";
import { planPtx } from "../launch/ptx-plan.ts";
import type { Parameter } from "../visa/arguments.ts";
import type { VisaProgram } from "../visa/program.ts";
import { type BegunLaunch, beginExecution } from "./begin-execution.ts";
import { DeviceCore } from "./device-core.ts";
import type { Engines } from "./engines.ts";
import { findKernel } from "./find-kernel.ts";
import { findVariable } from "./find-variable.ts";
import { enginesFor, prepareKernel } from "./open-engines.ts";
import type { OpenAlone } from "./rehearsal.ts";
import { typeOfParameter } from "./parameter-type.ts";

/**
 * A program loaded into a device: one PTX module or several linked ones, or the files of a vISA program. Made by
 * `Device.load`.
 */
export class Module {
  /** The device that the program is loaded into. */
  readonly device: DeviceCore;
  /** The program in Lanewise's intermediate representation. */
  readonly ir: IrModule;
  /** The checker's warnings. */
  readonly diagnostics: readonly Diagnostic[];
  readonly #program: Program;
  readonly #visa: VisaProgram | null;
  readonly #cache: () => KernelCache | null;
  #opened: Engines | null = null;
  /** The number of launches begun before the module was loaded: those cannot use its variables. */
  readonly #since: number;
  /** Whether nobody limits launches that do not ask for it, and they hand nothing to the device. */
  readonly #isPlain: boolean;

  /**
   * Use `Device.load`. `cache` returns the cache of compiled kernels, and is called when a kernel is compiled; `visa`
   * plans the launches of vISA kernels.
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
    this.#since = device.memory.pending.begun;
    this.#program = loadProgram(device.memory, ir, { externals: deviceFunctions });
    this.#cache = cache;
    this.#visa = visa;
    this.#isPlain = visa === null && !this.handsOverWork && arePlain(device.defaults);
  }

  /** The instruction set of the program. */
  get isa(): Isa {
    return this.#visa === null ? "ptx" : "visa";
  }

  /** The names of the kernels, in the order of the source. */
  get kernels(): string[] {
    return this.ir.functions.filter((f) => f.kind === "kernel").map((f) => f.name);
  }

  /**
   * Returns a kernel by name, or without a name the only kernel of the program. Kernels of C++ have the name that they
   * have in the source, `reduce`, `ns::reduce`, `scale<float>` or `reduce(float const*, float*, int)`, besides the
   * mangled one.
   *
   * Where the device keeps compiled kernels, the code is loaded that its first launch needed in an earlier process.
   *
   * @throws UsageError that lists the kernels, if there is no such kernel, or several
   */
  kernel(name?: string): Kernel {
    const kernel = this.find(name);
    kernel.prepare({});
    return kernel;
  }

  /** The same without loading code. @internal */
  find(name?: string): Kernel {
    const known = findKernel(this.kernels, name);
    const found = this.ir.functions.find((f) => f.kind === "kernel" && f.name === known)!;
    return new Kernel(this, found, {
      obstacle: () => this.#program.obstacleOf(found),
      types: () => this.#types(found),
      visaParameters: () => this.#visa?.parameters(found.name) ?? null,
      prepare: (options) => this.#prepare(found, options),
      plan: (options) => this.#plan(found, options),
      runPlain: (options) => this.#runPlain(found, options),
      run: (launched) => this.#engines().run(launched),
      runAsync: (launched) => this.#engines().runAsync(launched),
      mayBeUndone: (launched) => this.#engines().mayBeUndone(launched),
      mayWait: (launched) => this.#engines().mayWait(launched),
      begin: ({ request: { onDeviceWork: _, ...own }, observers }) => beginExecution(this.#program, own, observers),
    });
  }

  /** Whether kernels may launch kernels. @internal */
  get handsOverWork(): boolean {
    return this.ir.functions.some(({ external, name }) => external && isDeviceWork(name));
  }

  /** The names of the `.global` and `.const` variables, in the order of the source. */
  get variables(): string[] {
    return this.ir.variables.filter((v) => v.space !== "shared").map((v) => v.name);
  }

  /**
   * Returns a `.global` or `.const` variable by name, for reading and writing between launches. A variable of C++ has
   * the name that it has in the source too, `ns::table`; one that a function declares is called `function.name`.
   *
   * @throws UsageError if there is no such variable
   */
  variable(name: string): ModuleVariable {
    const variable = findVariable(this.ir.variables, name);
    const program = this.#program;
    const { pending } = this.device.memory;
    return new ModuleVariable({
      variable,
      address: program.addressOf(variable.name)!,
      read: () => program.readVariable(variable.name),
      write: (bytes, at) => program.writeVariable(variable.name, bytes, at),
      isInUse: () => pending.reach(this.#since),
    });
  }

  /** The bytes of the `.const` variables by name, whether launches are in flight or not. @internal */
  get constants(): ReadonlyMap<string, Uint8Array> {
    const names = this.ir.variables.filter(({ space }) => space === "const").map(({ name }) => name);
    return new Map(names.map((name) => [name, this.#program.readVariable(name)]));
  }

  #engines(): Engines {
    return (this.#opened ??= enginesFor(this.#program, this.#cache, this.device.nativeCompiler));
  }

  #prepare(kernel: IrFunction, options: LaunchSettings): void {
    const settings = this.device.keepsKernels ? unwatchedSettings({ ...this.device.defaults, ...options }) : null;
    if (settings === null) return;
    const open: OpenAlone = (ir, cache) => new Module(new DeviceCore(), ir, [], () => cache);
    prepareKernel(this.#engines(), { ir: this.ir, kernel }, settings, open);
  }

  /** Runs a launch that compiled code runs and nobody watches, if it is one: see `Engines.runPlain`. */
  #runPlain(kernel: IrFunction, options: LaunchOptions): KernelResult | null {
    if (!this.#isPlain || this.device.memory.pending.areOpen) return null;
    const settings = plainSettings(options, this.device.defaults);
    if (settings === null) return null;
    return this.#engines().runPlain(kernel.name, () => this.#plan(kernel, options), settings);
  }

  #types({ name, params }: IrFunction): readonly ParameterType[] | null {
    if (this.#visa !== null) return this.#visa.parameters(name).map(typeOfParameter);
    return parameterTypes(
      name,
      params.map(({ type }) => type.size),
    );
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

/** A launch that is ready to begin, and its kernel. */
interface ReadyLaunch {
  readonly kernel: Kernel;
  readonly prepared: PreparedLaunch;
}

/** The functions of its module that a kernel uses. */
interface Launcher {
  /** What keeps the kernel from being executed, or null. */
  readonly obstacle: () => Obstacle | null;
  readonly types: () => readonly ParameterType[] | null;
  readonly visaParameters: () => readonly Parameter[] | null;
  readonly prepare: (options: LaunchSettings) => void;
  readonly plan: (options: LaunchOptions) => LaunchPlan;
  readonly runPlain: (options: LaunchOptions) => KernelResult | null;
  readonly run: (launched: PreparedLaunch) => EngineResult;
  readonly runAsync: (launched: PreparedLaunch) => Promise<EngineResult>;
  /** Whether the launch must not overlap with any other. */
  readonly mayBeUndone: (launched: PreparedLaunch) => boolean;
  readonly mayWait: (launched: PreparedLaunch) => boolean;
  readonly begin: (launched: PreparedLaunch) => Execution;
}

/** A kernel of a module. Made by `Module.kernel`. */
export class Kernel {
  /** The module that the kernel belongs to. */
  readonly module: Module;
  /** The kernel in Lanewise's intermediate representation. */
  readonly ir: IrFunction;
  readonly #launcher: Launcher;

  /** Use `Module.kernel`. @internal */
  constructor(module: Module, ir: IrFunction, launcher: Launcher) {
    this.module = module;
    this.ir = ir;
    this.#launcher = launcher;
  }

  /** Its name in the program: the mangled one, if it was written in C++. */
  get name(): string {
    return this.ir.name;
  }

  /** Its name in C++ with the types of its parameters, `scale<float>(float*, float, int)`; `name` if it has none. */
  get signature(): string {
    return signatureOf(this.ir.name);
  }

  /** The types of the parameters in the source language; null if the program does not say them. @internal */
  get parameterTypes(): readonly ParameterType[] | null {
    return this.#launcher.types();
  }

  /** The arguments that a vISA kernel takes; null for PTX. @internal */
  get visaParameters(): readonly Parameter[] | null {
    return this.#launcher.visaParameters();
  }

  /**
   * Checks that every instruction that the kernel may reach can be executed. Every launch checks it too.
   *
   * @throws NotExecutableError when the kernel can reach an instruction that is not modelled
   */
  requireExecutable(): void {
    const obstacle = this.#launcher.obstacle();
    if (obstacle === null) return;
    const { function: f, index, message } = obstacle;
    const { span } = f.instructions[index]!;
    throw new NotExecutableError(this.name, message, { source: f.source, span });
  }

  /**
   * Loads the code that the kernel's first launch needed in an earlier process, if launches with such options run
   * compiled code that nobody watches. @internal
   */
  prepare(options: LaunchSettings): void {
    this.#launcher.prepare(options);
  }

  /**
   * Runs the kernel to its end. Faults and the findings of sanitizers are not thrown: they are the `reports` of the
   * result, whose `ok` is then false.
   *
   * @throws UsageError if arguments or sizes do not fit the kernel, or launches are in flight on the device
   * @throws NotExecutableError if the kernel may reach an instruction that is not modelled
   */
  launch(options: LaunchOptions): KernelResult {
    return this.launchPlain(options) ?? this.#launchPrepared(options);
  }

  #launchPrepared(options: LaunchOptions): KernelResult {
    const steps = this.#steps(options, this.#ready(options));
    for (let step = steps.next(); ; ) {
      if (step.done === true) return step.value;
      step = steps.next(this.#run(step.value));
    }
  }

  /** The same where compiled code can, and nobody watches; null elsewhere: nothing has happened then. @internal */
  launchPlain(options: LaunchOptions): KernelResult | null {
    this.requireExecutable();
    return this.#launcher.runPlain(options);
  }

  /**
   * Runs the kernel like `launch`, but without blocking the caller: workers run the blocks, one unless `hostThreads`
   * asks for more. If the interpreter is needed, the host has no workers, or the kernel has neither loops nor calls and
   * its launch takes less time than a message to a worker, the launch runs in the calling thread when its turn comes.
   * Arguments are copied at once; buffers that existed at the time of the call must not be accessed until the result is
   * there.
   *
   *     const results = await Promise.all([first.launchAsync(a), second.launchAsync(b)]); // one after the other
   *
   * The promise rejects with what `launch` throws.
   */
  async launchAsync(options: AsyncLaunchOptions): Promise<KernelResult> {
    const { pending } = this.module.device.memory;
    const { stream = this.module.device.defaultStream, ...each } = options;
    const ready = this.#ready(each);
    pending.begin();
    try {
      return await stream.enqueue(async () => {
        const steps = this.#steps(each, ready);
        for (let step = steps.next(); ; ) {
          if (step.done === true) return step.value;
          step = steps.next(await this.#runInTurn(step.value));
        }
      });
    } finally {
      pending.end();
    }
  }

  #run(step: LaunchStep<ReadyLaunch>): KernelResult | null {
    if (step.kind === "operation") {
      step.run();
      return null;
    }
    const { kernel, prepared } = step.launch;
    return prepared.end(() => kernel.#launcher.run(prepared));
  }

  /** Nothing else happens to memory while a launch runs that may be undone: it would be undone too. */
  #runInTurn(step: LaunchStep<ReadyLaunch>): Promise<KernelResult | null> {
    const { pending } = this.module.device.memory;
    if (step.kind === "operation") return pending.inTurn(false, async () => this.#run(step));
    const { kernel, prepared } = step.launch;
    const mayBeUndone = kernel.#launcher.mayBeUndone(prepared);
    return pending.inTurn(mayBeUndone, () => prepared.endAsync(() => kernel.#launcher.runAsync(prepared)));
  }

  /**
   * Whether the launch may wait for what others do: other launches, the host. If it does not, it ends by itself, and
   * `launch` is enough. Throws as `launch` does. @internal
   */
  mayWait(options: LaunchOptions): boolean {
    return this.#launcher.mayWait(this.#prepare(options));
  }

  /**
   * Begins a launch in the interpreter that the caller steps through, as a debugger does. The kernel cannot launch
   * others then. Throws as `launch` does.
   */
  begin(options: LaunchOptions): BegunLaunch {
    const prepared = this.#prepare(options);
    return { execution: this.#launcher.begin(prepared), end: () => prepared.close() };
  }

  #ready(options: LaunchOptions): ReadyLaunch {
    return { kernel: this, prepared: this.#prepare(options) };
  }

  /** The launch, and those that kernels make. */
  #steps(options: LaunchOptions, ready: ReadyLaunch): LaunchSteps<ReadyLaunch> {
    return launchSteps(ready, ({ kernel: name, grid, block, sharedBytes, params }) => {
      const { blocks: _, cluster: __, global: ___, local: ____, ...settings } = options;
      const kernel = this.module.kernel(name);
      const args = kernel.ir.params.map(({ storage, type }) => {
        const at = storage.kind === "kernel" ? storage.offset : 0;
        return params.subarray(at, at + type.size);
      });
      return kernel.#ready({ ...settings, grid, block, shared: sharedBytes, args });
    });
  }

  #prepare(options: LaunchOptions): PreparedLaunch {
    const { defaults } = this.module.device;
    requireLaunchOptions(options);
    this.requireExecutable();
    const plan = this.#launcher.plan(options);
    const sanitizers = sanitizersIn(options.sanitize ?? defaults.sanitize);
    return new PreparedLaunch(this.name, plan, sanitizers, options, defaults);
  }
}
