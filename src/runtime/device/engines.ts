import { type LaunchOptions, launch, launchInSlices } from "../../interpreter/index.ts";
import type { NativeCompiler } from "../../jit/abi/native-code.ts";
import { JitProgram } from "../../jit/run/jit-program.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { JitResult } from "../../jit/run/launch-execution.ts";
import type { PreparedKernel } from "../../jit/run/program-kernels.ts";
import { type LeftToInterpreter, left } from "../../jit/run/left-to-interpreter.ts";
import type { LaunchRequest, LaunchResult } from "../../machine/launch.ts";
import type { Program } from "../../program/program.ts";
import { unitSanitizersFor } from "../../sanitizers/index.ts";
import { UsageError } from "../data/errors.ts";
import type { EngineChoice, EngineResult, KernelResult } from "../launch/launch-options.ts";
import type { LaunchPlan } from "../launch/launch-plan.ts";
import type { PlainSettings, UnwatchedSettings } from "../launch/plain-launch.ts";
import type { PreparedLaunch } from "../launch/prepared-launch.ts";

/**
 * Milliseconds of the host's threads that a kernel has taken before machine code is made of it. A C compiler needs one
 * to three seconds, beside the kernel; what has run for a second will probably run for some more.
 */
const machineCodeAfterMs = { native: 0, tiered: 1000 };

/**
 * Milliseconds of the host's threads that a kernel has taken before it is compiled with all that makes loops faster:
 * written round by round, and with code for lanes that stay in them. That takes as long as compiling it once or twice
 * more. Who waits for machine code does not want to wait again.
 */
const hotAfterMs = { native: 0, tiered: 50, jit: 50 };

/** The clock, which Node looks up anew each time that it is named: launches of less than a microsecond are timed. */
const clock = performance;

/** The engines that run a program's launches: compiled code where it can, and otherwise the interpreter. */
export class Engines {
  readonly #program: Program;
  readonly #cache: () => KernelCache | null;
  readonly #native: NativeCompiler | null;
  /** By when kernels become machine code, and when they are hot. */
  readonly #programs: { native?: JitProgram; tiered?: JitProgram; jit?: JitProgram } = {};

  /**
   * `cache` returns the cache of compiled kernels, and is called when a kernel is compiled; `native` makes machine code
   * of them.
   */
  constructor(program: Program, cache: () => KernelCache | null, native: NativeCompiler | null) {
    this.#program = program;
    this.#native = native;
    this.#cache = cache;
  }

  run(launched: PreparedLaunch): EngineResult {
    if (this.#program.memory.pending.areOpen) {
      throw new UsageError("launches are in flight on the device: await their results first, or use `launchAsync`");
    }
    const done = this.#runWatched(launched, false) ?? this.#runCompiled(launched);
    if (!isLeft(done)) return done;
    return interpreted(done, launch(this.#program, launched.request, watching(launched, done)));
  }

  /**
   * Loads what the first launch of a kernel has needed in an earlier process, for one with certain settings; null if no
   * store has kept that.
   */
  prepare(kernel: string, { engine, hostThreads }: UnwatchedSettings): PreparedKernel | null {
    return this.#compilerFor(engine).prepare(kernel, hostThreads);
  }

  /**
   * Runs a launch that needs no preparation, in a fraction of the time that a prepared one takes. Returns null if
   * compiled code cannot: nothing has happened then. `plan`: makes its parameters.
   */
  runPlain(
    kernel: string,
    plan: () => LaunchPlan,
    { engine, hostThreads, matrix, hostClock, environment, onOutput }: PlainSettings,
  ): KernelResult | null {
    const begun = clock.now();
    const { request, threads } = plan();
    let stdout = "";
    const print = (text: string): void => {
      stdout += text;
      onOutput?.(text);
    };
    // Each field by its name: copying the rest of an object takes longer than the launch of a small kernel.
    const { grid, block, sharedBytes, params } = request;
    const launched = {
      kernel,
      grid,
      block,
      sharedBytes,
      params,
      environment,
      hostClock,
      matrix,
      hostThreads,
      onOutput: print,
    } as LaunchRequest;
    const jit = this.#compilerFor(engine);
    const result = jit.launch(launched);
    if (result === null) return null;
    const { ok, steps, reports, hostThreads: used, isNative } = result;
    const why = this.#whyNotNative(engine, launched, jit, result);
    const milliseconds = clock.now() - begun;
    const own = {
      ok,
      steps,
      reports,
      engine: isNative ? "native" : "jit",
      interpreted: null,
      hostThreads: used,
      threads,
      milliseconds,
      stdout,
    } as const;
    return why === null ? own : { ...own, notNative: why };
  }

  /** Where the interpreter runs the launch, the host has its turn between slices of it. */
  async runAsync(launched: PreparedLaunch): Promise<EngineResult> {
    const done = this.#runWatched(launched, true) ?? (await this.#runCompiledAsync(launched));
    if (!isLeft(done)) return done;
    const { memory } = this.#program;
    const run = () => launchInSlices(this.#program, launched.request, watching(launched, done));
    return interpreted(done, await memory.pending.inSlices(run));
  }

  /** Whether a launch by workers may have to be undone. */
  mayBeUndone(launched: PreparedLaunch): boolean {
    const jit = this.#jitFor(launched);
    return (
      typeof jit !== "string" && jit.obstacleOf(launched.request, true) === null && jit.mayBeUndone(launched.request)
    );
  }

  /** Whether a launch may wait for what others do. */
  mayWait(launched: PreparedLaunch): boolean {
    const jit = this.#jitFor(launched);
    return typeof jit === "string" || jit.mayWait(launched.request);
  }

  /**
   * Runs a launch that nobody watches but sanitizers; null where it is another one, or only interpreted. `isAwaited`:
   * whether the host goes on meanwhile.
   */
  #runWatched(launched: PreparedLaunch, isAwaited: boolean): EngineResult | LeftToInterpreter | null {
    const { request, observers, isOnlySanitized } = launched;
    if (observers.length === 0 || !isOnlySanitized || this.#interpretedOnly(launched) !== null) return null;
    const names = request.sanitize ?? [];
    const result = this.#compiler().launchWatched(request, isAwaited, (found) => unitSanitizersFor(names, found));
    if ("why" in result) return { ...result, why: `sanitizers watch: ${result.why}` };
    const notNative = launched.engine === "native" ? { notNative: "sanitizers watch" } : {};
    return { ...result, engine: "jit", interpreted: null, ...notNative, hostThreads: 1 };
  }

  #runCompiled(launched: PreparedLaunch): EngineResult | LeftToInterpreter {
    const { request } = launched;
    const jit = this.#jitFor(launched);
    if (typeof jit === "string") return left(jit);
    const result = jit.launch(request);
    return result === null ? left(notCompiled(jit.obstacleOf(request))) : this.#compiled(launched, jit, result);
  }

  async #runCompiledAsync(launched: PreparedLaunch): Promise<EngineResult | LeftToInterpreter> {
    const { request } = launched;
    const jit = this.#jitFor(launched);
    if (typeof jit === "string") return left(jit);
    const result = jit.obstacleOf(request, true) === null ? await jit.launchAsync(request) : null;
    return result === null ? left(notCompiled(jit.obstacleOf(request, true))) : this.#compiled(launched, jit, result);
  }

  /** The result of a launch that compiled code has run, with the engine that has. */
  #compiled({ request, engine }: PreparedLaunch, jit: JitProgram, result: JitResult): EngineResult {
    const { isNative, refusal: _, ...ran } = result;
    const notNative = this.#whyNotNative(engine, request, jit, result);
    const by = isNative ? "native" : "jit";
    return { ...ran, engine: by, interpreted: null, ...(notNative !== null && { notNative }) };
  }

  /** Why machine code has not run a launch, where that is not what was asked for. */
  #whyNotNative(
    engine: EngineChoice,
    request: LaunchRequest,
    jit: JitProgram,
    { isNative, refusal }: JitResult,
  ): string | null {
    if (engine === "tiered") return refusal;
    if (engine !== "native" || isNative) return null;
    return this.#native === null
      ? "the device has no compiler to machine code (`nativeCompiler`)"
      : jit.whyNotNative(request);
  }

  #compiler(): JitProgram {
    return (this.#programs.jit ??= new JitProgram(this.#program, null, this.#cache(), null, hotAfterMs.jit));
  }

  /**
   * Returns the compiler, or the reason for not using it: compiled code does not support what only the interpreter
   * does.
   */
  #jitFor(launched: PreparedLaunch): JitProgram | string {
    const why = this.#interpretedOnly(launched);
    if (why !== null) return why;
    if (launched.observers.length > 0) return "observers watch";
    return this.#compilerFor(launched.engine);
  }

  /** The compiler for an engine; that to WebAssembly alone where the device has none to machine code. */
  #compilerFor(engine: EngineChoice): JitProgram {
    if (engine !== "native" && (engine !== "tiered" || this.#native === null)) return this.#compiler();
    const known = this.#programs[engine];
    if (known !== undefined) return known;
    const compiler = this.#native;
    const tier = compiler === null ? null : { compiler, afterMs: machineCodeAfterMs[engine] };
    const made = new JitProgram(this.#program, null, this.#cache(), tier, hotAfterMs[engine]);
    return (this.#programs[engine] = made);
  }

  /** Why a launch runs in the interpreter, apart from who watches it; null if nothing asks for that. */
  #interpretedOnly({ request: { seed, steering, maxSteps, timeoutMs }, engine }: PreparedLaunch): string | null {
    if (engine === "interpreter") return "the interpreter was asked for";
    if (seed !== undefined || steering !== undefined) return "the schedule is chosen";
    if (maxSteps !== undefined) return "steps are limited";
    if (timeoutMs !== undefined) return "time is limited";
    return null;
  }
}

const isLeft = (done: EngineResult | LeftToInterpreter): done is LeftToInterpreter => "why" in done;

/** What the interpreter needs to know of a launch that is left to it. */
const watching = ({ observers }: PreparedLaunch, { id }: LeftToInterpreter): LaunchOptions =>
  id === undefined ? { observers } : { observers, id };

function interpreted({ why, found }: LeftToInterpreter, result: LaunchResult): EngineResult {
  found(result.reports);
  return { ...result, engine: "interpreter", interpreted: why, hostThreads: 1 };
}

const notCompiled = (obstacle: string | null): string => `not compiled: ${obstacle}`;
