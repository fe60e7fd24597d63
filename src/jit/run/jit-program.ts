import { launch } from "../../interpreter/index.ts";
import type { WorkItemModel } from "../../ir/index.ts";
import type { LaunchRequest, LaunchResult } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { nextLaunch } from "../../program/open-launch.ts";
import type { Program } from "../../program/program.ts";
import type { Features } from "../../wasm/index.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { ChunkWidth } from "../abi/launch-shape.ts";
import { Stalled } from "../abi/refusal.ts";
import { canShare } from "../threads/host-workers.ts";
import { type Attempt, attempt, isQuiet, QuietAttempt } from "./attempt.ts";
import type { HostedProgram } from "./call-stack.ts";
import type { Compiler } from "./compiler.ts";
import { Contexts, mostContexts } from "./contexts.ts";
import { AllocationTables } from "./extent-tables.ts";
import type { KernelCache } from "./kernel-cache.ts";
import {
  type ExecutionChoices,
  type HostMaker,
  type JitResult,
  LaunchExecution,
  type LaunchMemory,
} from "./launch-execution.ts";
import { awaitsPhases, isJudged, maxCheckpointBytes, maxStallBytes } from "./launch-traits.ts";
import { type LaunchWay, LaunchWays } from "./launch-ways.ts";
import type { ShownChoices } from "./shown-launch.ts";
import type { LeftToInterpreter } from "./left-to-interpreter.ts";
import type { LoadedKernel, NativeTier } from "./loaded-kernel.ts";
import { openCompiler, openWatchedLaunches } from "./open-compiler.ts";
import { openHost } from "./open-host.ts";
import { type PreparedKernel, ProgramKernels } from "./program-kernels.ts";
import { isRepeatable, quietly } from "./repeatable.ts";
import { inBlocks, type OtherBlocks, Regrouping } from "./regrouping.ts";
import { ShortLaunches } from "./short-launches.ts";
import type { WatchedLaunches } from "./watched-launches.ts";
import { orWhyNot } from "./why-not.ts";

/**
 * Bytes of a module from which on its kernel is hot only after it has run for longer, since to compile it again takes
 * longer, too: in proportion, but no more than so many times as long.
 */
const slowToCompile = { bytes: 25_000, most: 10 };

const noParams = new Uint8Array();

/** A program's compiled kernels, by name and shape, and their launches. */
export class JitProgram {
  readonly program: Program;
  readonly #width: ChunkWidth | null;
  readonly #regrouping: Regrouping;
  readonly #kernels: ProgramKernels;
  readonly #contexts: Contexts;
  readonly #tables: AllocationTables;
  readonly #short = new Map<LoadedKernel, ShortLaunches>();
  readonly #ways = new LaunchWays();
  readonly #hotAfterMs: number;
  #constants: number | null = null;
  #opened: Compiler | null = null;
  #launchMemory: LaunchMemory | null = null;
  #watched: WatchedLaunches | null = null;

  /**
   * `width`: of chunks where nothing asks for whole warps; null: as wide as is good for the block. `cache`:
   * kernels that have been compiled before; `native`: what makes machine code of kernels, which then runs instead of
   * them, and when; `hotAfterMs`: milliseconds that a kernel has run before it gets code that takes longer to compile.
   */
  constructor(
    program: Program,
    width: ChunkWidth | null = null,
    cache: KernelCache | null = null,
    native: NativeTier | null = null,
    hotAfterMs = 0,
  ) {
    this.program = program;
    this.#hotAfterMs = hotAfterMs;
    this.#width = width;
    this.#contexts = new Contexts(program.memory);
    this.#tables = new AllocationTables(program.memory, program.addresses);
    const [compiler, constantsAt] = [(): Compiler => this.#compiler, (): number => this.#placeConstants()];
    const isHot = hotAfterMs === 0;
    this.#kernels = new ProgramKernels({ program, width, cache, native, isHot, compiler, constantsAt });
    this.#regrouping = new Regrouping((kernel, block) => this.#kernels.threadsIn(kernel, block));
  }

  /**
   * Loads what the first launch of a kernel has needed in an earlier process; null if no store has kept that.
   * `hostThreads`: of the launch.
   */
  prepare(kernel: string, hostThreads: number): PreparedKernel | null {
    this.#shareFor(hostThreads > 1);
    const prepared = this.#kernels.prepare(kernel);
    if (prepared !== null) this.#prepareWay(kernel, prepared);
    return prepared;
  }

  /** Finds how a launch runs for which a kernel has been prepared, whatever its arguments are. */
  #prepareWay(kernel: string, prepared: PreparedKernel): void {
    const { noted, threads, loaded } = prepared;
    const asked = { kernel, grid: noted.grid, block: noted.asked, sharedBytes: noted.sharedBytes, params: noParams };
    // What is not noted of its threads is not found out here: the launch then stays in its blocks, or is another one.
    const blocks = threads === null ? null : this.#regrouping.blocksFor(asked);
    const request = blocks === null ? asked : inBlocks(asked, blocks);
    if (!this.#kernels.isFor(request, prepared)) return;
    const way = this.#wayTo(loaded, blocks, request, asked);
    this.#ways.add(asked, this.program.memory.isShared, { dependsOnGrid: true, parameters: [] }, way);
  }

  get #compiler(): Compiler {
    return (this.#opened ??= openCompiler(this.program, this.#width, () => this.#placeConstants()));
  }

  /** Returns why a kernel cannot be compiled, or null. `apart`: for `launchAsync`. */
  obstacleOf(request: LaunchRequest, apart = false): string | null {
    const way = this.#wayIn(request, apart);
    return typeof way === "string" ? way : way.obstacle;
  }

  #wayIn(request: LaunchRequest, apart: boolean): LaunchWay | string {
    this.#shareFor(apart || (request.hostThreads ?? 1) > 1);
    return this.#wayOf(request);
  }

  /** From the first launch in several threads of the host on, the device's memory is shared. */
  #shareFor(severalThreads: boolean): void {
    if (severalThreads && canShare()) this.program.memory.share();
  }

  /** Returns why WebAssembly has run a kernel, and not machine code. */
  whyNotNative(request: LaunchRequest): string {
    const way = this.#wayOf(request);
    if (typeof way === "string") return way;
    return typeof way.loaded.native === "string" ? way.loaded.native : "it was being made";
  }

  /** Blocks of a cluster. */
  #clusterOf({ kernel, cluster }: LaunchRequest): number {
    const [x, y, z] = cluster ?? this.program.functionNamed(kernel)?.ir.bounds.reqnctapercluster ?? [1, 1, 1];
    return x * y * z;
  }

  /** Whether blocks of a launch may wait for what others do: other blocks, the host, other launches. */
  mayWait(request: LaunchRequest): boolean {
    const way = this.#wayOf(request);
    return typeof way === "string" || way.loaded.kernel.waits;
  }

  /** Whether a launch may have to be undone; what other launches do meanwhile would be undone with it. */
  mayBeUndone(request: LaunchRequest): boolean {
    const way = this.#wayOf(request);
    return typeof way !== "string" && way.loaded.kernel.mayGiveUp;
  }

  /**
   * Runs a kernel. Returns null if there is an obstacle, or turns out to be one, which `obstacleOf` knows from then on:
   * the launch has been undone.
   */
  launch(asked: LaunchRequest): JitResult | null {
    const way = this.#wayIn(asked, false);
    if (typeof way === "string" || way.obstacle !== null) return null;
    const request = way.blocks === null ? asked : inBlocks(asked, way.blocks);
    const { kernel } = way.loaded;
    this.#placeConstants();
    const { memory } = this.program;
    const isJudged = way.isJudged && memory.allocatedBytes <= maxCheckpointBytes;
    const mayStall = way.mayStall && memory.allocatedBytes <= maxStallBytes;
    if (!kernel.mayGiveUp && !isJudged && !mayStall) return this.#run(way, request, false);
    const attempt = isQuiet(kernel)
      ? new QuietAttempt(request, memory.checkpoint(), this.#refuse)
      : this.#attempt(request);
    try {
      const result = this.#run(way, attempt.request, true, attempt.id);
      if (!result.ok && isJudged) return this.#again(attempt, asked);
      attempt.print(result);
      return result;
    } catch (error) {
      return error instanceof Stalled ? this.#again(attempt, asked) : attempt.giveUp(error);
    }
  }

  /** Runs a launch that sanitizers watch, unless it is left to the interpreter: see `WatchedLaunches.run`. */
  launchWatched(
    request: LaunchRequest,
    isAwaited: boolean,
    observers: ShownChoices["observers"],
  ): LaunchResult | LeftToInterpreter {
    this.#watched ??= openWatchedLaunches({
      program: this.program,
      compiler: this.#compiler,
      sharedMemory: () => this.#sharedMemory(),
      attempt: (r, save) => this.#attempt(r, save),
      orWhyNot,
    });
    return this.#watched.run(request, isAwaited, observers);
  }

  /** The interpreter repeats a launch, since it knows more of what is wrong. */
  #again({ undo, id }: { readonly undo: () => void; readonly id: number }, request: LaunchRequest): JitResult {
    undo();
    return { ...launch(this.program, request, { id }), steps: null, hostThreads: 1, isNative: false, refusal: null };
  }

  /** Runs a launch in this thread, and lets the memory's history know how to repeat it. */
  #run(way: LaunchWay, request: LaunchRequest, canUndo: boolean, id = nextLaunch()): JitResult {
    const { history } = this.program.memory;
    const past = history.leave();
    const result = this.#runOnce(way, request, canUndo, id);
    // Most often nothing may have to be undone: a launch of less than a microsecond makes no functions in vain.
    if (past === null || !way.isRepeatable || !result.ok || result.hostThreads > 1 || request.hostClock === true) {
      return result;
    }
    const [x, y, z] = request.grid;
    const repeat = (): void => void this.#runOnce(way, quietly(request), canUndo, id);
    history.changed(past, { repeat }, way.loaded.blockMs * x * y * z);
    return result;
  }

  #runOnce({ loaded, short }: LaunchWay, request: LaunchRequest, canUndo: boolean, id: number): JitResult {
    if (short.take(request)) return short.run(request, id);
    return this.#execution(loaded, request, { apart: false, canUndo, id }).run();
  }

  /** Prepares a launch that may be undone. */
  #attempt(request: LaunchRequest, save = (): (() => void) => this.program.memory.checkpoint()): Attempt {
    return attempt(request, save(), this.#refuse);
  }

  /** A launch has been given up: later ones of the kernel, with blocks of the same shape, are not tried. */
  readonly #refuse = (reason: string, request: LaunchRequest): void => {
    this.#kernels.refuse(request, reason);
    this.#ways.forget(request.kernel);
  };

  /**
   * Compiles a kernel for other launchers: for blocks of one shape, or (null) of any, on machines with certain
   * features. Returns a text if it cannot be compiled: why. `threads`: of a vISA kernel, compiled as its work items.
   */
  compiled(
    kernel: string,
    block: Dim3 | null,
    features: Features,
    threads: { readonly width: number; readonly items: WorkItemModel } | null = null,
  ): CompiledKernel | string {
    return this.#compiler.portable(kernel, block, features, threads);
  }

  /** The byte of the device's memory where the module's constants lie. */
  get constantsAt(): number {
    return this.#placeConstants();
  }

  /**
   * Does what `launch` does, in workers if there are any and a message to one pays. A launch that may be undone must be
   * the only one.
   */
  async launchAsync(asked: LaunchRequest): Promise<JitResult | null> {
    const way = this.#wayOf(asked);
    if (typeof way === "string") throw new Error(`${asked.kernel} cannot be compiled: ${way}`);
    const { loaded, blocks, short } = way;
    const request = blocks === null ? asked : inBlocks(asked, blocks);
    const runApart = (request: LaunchRequest, canUndo: boolean, id: number): Promise<JitResult> =>
      this.#execution(loaded, request, { apart: true, canUndo, id }).runApart();
    if (!loaded.kernel.mayGiveUp) {
      if (!short.takeApart(request)) return runApart(request, false, nextLaunch());
      this.#placeConstants();
      this.program.memory.history.forget();
      return short.run(request, nextLaunch());
    }
    const attempt = this.#attempt(request);
    try {
      const result = await runApart(attempt.request, true, attempt.id);
      attempt.print(result);
      return result;
    } catch (error) {
      return attempt.giveUp(error);
    }
  }

  #shortLaunches(loaded: LoadedKernel): ShortLaunches {
    let short = this.#short.get(loaded);
    if (short === undefined) {
      short = new ShortLaunches(this.program, loaded, () => this.#sharedMemory(), this.#hostMaker(loaded));
      this.#short.set(loaded, short);
    }
    return short;
  }

  #execution(loaded: LoadedKernel, request: LaunchRequest, choices: ExecutionChoices): LaunchExecution {
    return new LaunchExecution(this.program, loaded, this.#sharedMemory(), this.#hostMaker(loaded), request, choices);
  }

  #hostMaker(loaded: LoadedKernel): HostMaker {
    return (grid, slot, clusters) => openHost(grid, loaded.kernel, this.#hosted(), slot, clusters);
  }

  #hosted(): HostedProgram {
    return { program: this.program, functions: null, constants: this.constantsAt };
  }

  /** What launches share, with the constants in place. */
  #sharedMemory(): LaunchMemory {
    const constants = this.#placeConstants();
    return (this.#launchMemory ??= { contexts: this.#contexts, tables: this.#tables, constants });
  }

  /**
   * Copies the module's constants, which the host may have changed since the last launch. Returns the byte of memory
   * where they lie.
   */
  #placeConstants(): number {
    const { memory, constants } = this.program;
    this.#constants ??= memory.reserve(constants.views.u8.length);
    if (constants.extents.length > 0) memory.views.u8.set(constants.views.u8, this.#constants);
    return this.#constants;
  }

  /** How a launch runs, as it was asked for, or why its kernel cannot be compiled. */
  #wayOf(asked: LaunchRequest): LaunchWay | string {
    const { isShared } = this.program.memory;
    const known = this.#ways.of(asked, isShared);
    if (known !== null && !this.#isOutgrown(known)) return known;
    const blocks = this.#regrouping.blocksFor(asked);
    const request = blocks === null ? asked : inBlocks(asked, blocks);
    const found = this.#wayWith(blocks, request, asked, known !== null);
    const way = known === null || replaces(found, known) ? found : { ...known, isEarly: false };
    const dependsOnGrid = this.#regrouping.dependsOnGrid(asked);
    const parameters = this.#kernels.parametersFor(request);
    this.#ways.add(asked, isShared, { dependsOnGrid, parameters }, way);
    return way;
  }

  /** Whether a kernel has run for so long that a better one is worth the time that it takes to compile. */
  #isOutgrown(way: LaunchWay | string): way is LaunchWay {
    if (typeof way === "string" || !way.isEarly) return false;
    const { kernel, spentMs } = way.loaded;
    const times = Math.max(1, Math.min(kernel.bytes.length / slowToCompile.bytes, slowToCompile.most));
    return spentMs >= times * this.#hotAfterMs;
  }

  /** Finds a way. `isHot`: whether such launches have run for long. */
  #wayWith(
    blocks: OtherBlocks | null,
    request: LaunchRequest,
    asked: LaunchRequest,
    isHot: boolean,
  ): LaunchWay | string {
    const loaded = this.#kernels.find(request, isHot);
    return typeof loaded === "string" ? loaded : this.#wayTo(loaded, blocks, request, asked);
  }

  #wayTo(loaded: LoadedKernel, blocks: OtherBlocks | null, request: LaunchRequest, asked: LaunchRequest): LaunchWay {
    const { kernel } = loaded;
    const mayStall = kernel.waits && this.program.module.functions.some(awaitsPhases);
    const short = this.#shortLaunches(loaded);
    return {
      loaded,
      blocks,
      obstacle: this.#partsProblem(kernel, asked),
      isJudged: isJudged(kernel, request),
      isRepeatable: isRepeatable(kernel),
      mayStall,
      isEarly: this.#kernels.isEarly(request),
      short,
    };
  }

  /** Why blocks of a grid cannot run as a launch wants them together, or apart; null if they can. */
  #partsProblem(kernel: CompiledKernel, request: LaunchRequest): string | null {
    const cluster = this.#clusterOf(request);
    if (cluster > 1 && request.blocks !== undefined) return "a part of the grid runs, in clusters";
    if (cluster > mostContexts(kernel, request.sharedBytes)) return "the blocks of a cluster need too much memory";
    // Those of one part would wait for ever for those of a later one.
    return (request.blocks?.length ?? 0) > 1 && kernel.waits
      ? "several parts of the grid run, the blocks of which may wait for each other"
      : null;
  }
}

/** Whether a way takes the place of another: a launch may have been told already that nothing is ever undone. */
const replaces = (found: LaunchWay | string, before: LaunchWay): boolean =>
  typeof found !== "string" && (before.loaded.kernel.mayGiveUp || !found.loaded.kernel.mayGiveUp);
