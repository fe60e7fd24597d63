import { launch, loadProgram, type Program } from "../interpreter/index.ts";
import { findObstacle, type Obstacle } from "../interpreter/reachable.ts";
import type { IrFunction, IrModule, LaunchBounds } from "../ir/index.ts";
import type { Observer } from "../machine/events.ts";
import type { LaunchRequest, LaunchResult, SanitizerName } from "../machine/launch.ts";
import type { Dim3 } from "../machine/report.ts";
import { sanitizersFor } from "../sanitizers/index.ts";
import { type Diagnostic, nearest } from "../source/index.ts";
import { type KernelArgument, packArguments } from "./argument.ts";
import type { Device } from "./device.ts";
import { deviceFunctions, isProvided } from "./device-functions.ts";
import { NotExecutableError, UsageError } from "./errors.ts";

/** How launches are watched and limited. */
export interface LaunchDefaults {
  /** Which sanitizers watch. Faults (an access outside every allocation, ...) are always found. */
  readonly sanitize?: "all" | Iterable<SanitizerName>;
  /** Permutes the schedule of the threads; the same seed gives the same run. */
  readonly seed?: number;
  /** Thread-instructions after which the launch ends with a `no-progress` report. */
  readonly maxSteps?: number;
  /** Milliseconds after which the launch ends with a `no-progress` report. */
  readonly timeoutMs?: number;
}

export interface LaunchOptions extends LaunchDefaults {
  /** Blocks: a number, or up to three. */
  readonly grid: Size;
  /** Threads of a block: a number, or up to three, 1024 in all at most. */
  readonly block: Size;
  /** Bytes of dynamic shared memory. Default 0. */
  readonly shared?: number;
  /** One for each parameter of the kernel, in their order. */
  readonly args?: readonly KernelArgument[];
  readonly onProgress?: LaunchRequest["onProgress"];
  /** What the kernel prints, as it prints it; the result has it as a whole. */
  readonly onOutput?: (text: string) => void;
  /** Who else watches, besides the sanitizers. */
  readonly observers?: readonly Observer[];
}

export type Size = number | readonly [x: number, y?: number, z?: number];

export interface KernelResult extends LaunchResult {
  /** Threads of the grid. */
  readonly threads: number;
  readonly milliseconds: number;
  /** What the kernel printed. */
  readonly stdout: string;
}

/** The sanitizers that there are. */
export const sanitizerNames: readonly SanitizerName[] = ["call", "memory", "sync"];

/** Far more than any GPU has, and less than the window of the address space. */
const mostShared = 0x0400_0000;

const dim3 = (size: Size): Dim3 => (typeof size === "number" ? [size, 1, 1] : [size[0], size[1] ?? 1, size[2] ?? 1]);
const product = ([x, y, z]: Dim3): number => x * y * z;

/** A program in a device: the kernels of one PTX module, or of several linked ones. */
export class Module {
  readonly device: Device;
  readonly ir: IrModule;
  /** Warnings of the checker. */
  readonly diagnostics: readonly Diagnostic[];
  readonly #program: Program;

  /** Use `Device.load`. */
  constructor(device: Device, ir: IrModule, diagnostics: readonly Diagnostic[]) {
    this.device = device;
    this.ir = ir;
    this.diagnostics = diagnostics;
    this.#program = loadProgram(device.memory, ir, { externals: deviceFunctions });
  }

  /** The names of the kernels, in the order of the source. */
  get kernels(): string[] {
    return this.ir.functions.filter((f) => f.kind === "kernel").map((f) => f.name);
  }

  /** @throws UsageError when there is no such kernel */
  kernel(name: string): Kernel {
    const found = this.ir.functions.find((f) => f.kind === "kernel" && f.name === name);
    if (found) return new Kernel(this, found, (request, observers) => launch(this.#program, request, { observers }));
    const meant = nearest(name, this.kernels);
    const kernels = this.kernels.map((k) => `"${k}"`).join(", ") || "none";
    throw new UsageError(
      `there is no kernel "${name}"${meant ? `; did you mean "${meant}"?` : `; there are ${kernels}`}`,
    );
  }
}

type Launch = (request: LaunchRequest, observers: readonly Observer[]) => LaunchResult;

/** A function of a module that can be launched. */
export class Kernel {
  readonly module: Module;
  readonly ir: IrFunction;
  readonly #launch: Launch;
  #obstacle: { readonly found: Obstacle | null } | null = null;

  /** Use `Module.kernel`. */
  constructor(module: Module, ir: IrFunction, run: Launch) {
    this.module = module;
    this.ir = ir;
    this.#launch = run;
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
    const { memory, defaults } = this.module.device;
    const { args = [], shared = 0, onProgress, onOutput, observers = [] } = options;
    const grid = dim3(options.grid);
    const block = dim3(options.block);
    this.#checkSizes(grid, block, shared);
    const params = packArguments(this.ir, args, { memory, addressSize: this.module.ir.addressSize });
    this.requireExecutable();

    const seed = options.seed ?? defaults.seed;
    const maxSteps = options.maxSteps ?? defaults.maxSteps;
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
    const sanitize = options.sanitize ?? defaults.sanitize ?? [];
    let stdout = "";
    const started = performance.now();
    const names = sanitize === "all" ? sanitizerNames : [...sanitize];
    const request: LaunchRequest = {
      kernel: this.name,
      grid,
      block,
      sharedBytes: shared,
      params,
      sanitize: new Set(names),
      onOutput: (text) => {
        stdout += text;
        onOutput?.(text);
      },
      ...(seed === undefined ? {} : { seed }),
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(onProgress === undefined ? {} : { onProgress }),
    };
    const result = this.#launch(request, [...sanitizersFor(names), ...observers]);
    const milliseconds = performance.now() - started;
    return { ...result, threads: product(grid) * product(block), milliseconds, stdout };
  }

  #checkSizes(grid: Dim3, block: Dim3, shared: number): void {
    const wrong = (what: string): never => {
      throw new UsageError(`kernel "${this.name}": ${what}`);
    };
    const limits: [string, Dim3, Dim3][] = [
      ["grid", grid, [0x7fff_ffff, 65_535, 65_535]],
      ["block", block, [1024, 1024, 64]],
    ];
    for (const [what, size, most] of limits) {
      const fits = size.every((n, i) => Number.isInteger(n) && n >= 1 && n <= most[i]!);
      if (!fits) wrong(`a ${what} of (${size.join(", ")}) is not from (1, 1, 1) to (${most.join(", ")})`);
    }
    if (!Number.isInteger(shared) || shared < 0 || shared > mostShared) wrong(`${shared} bytes of shared memory`);
    if (product(block) > 1024) wrong(`a block of ${product(block)} threads; it has at most 1024`);
    const bounds = boundsProblem(this.ir.bounds, block);
    if (bounds) wrong(bounds);
  }
}

function boundsProblem({ reqntid, maxntid }: LaunchBounds, block: Dim3): string | null {
  const size = `(${block.join(", ")})`;
  if (reqntid && !reqntid.every((n, i) => n === block[i])) {
    return `a block of ${size} threads, but .reqntid wants (${reqntid.join(", ")})`;
  }
  if (maxntid && product(block) > product(maxntid)) {
    return `a block of ${product(block)} threads, but .maxntid allows ${product(maxntid)}`;
  }
  return null;
}
