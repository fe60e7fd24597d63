import { windows } from "../../ir/index.ts";
import type { LaunchRequest, LaunchResult, SanitizerName } from "../../machine/launch.ts";
import { stackLimit } from "../../program/open-launch.ts";
import type { Program } from "../../program/program.ts";
import { machineFeatures } from "../../wasm/index.ts";
import type { LaunchShape } from "../abi/launch-shape.ts";
import { compileKernel } from "../compile/kernel/compile-kernel.ts";
import { CallGraph } from "../compile/plan/call-graph.ts";
import { type CompiledFunction, CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import { LaneStacks } from "../compile/plan/lane-stacks.ts";
import type { ProgramFacts } from "../compile/plan/program-facts.ts";
import type { ShadowPlan } from "../compile/watch/shadow-plan.ts";
import { lostObstacleOf } from "../compile/watch/obstacles.ts";
import { weave } from "../compile/watch/weave.ts";
import { GivenUp } from "../abi/refusal.ts";
import type { Attempt } from "./attempt.ts";
import type { Compiler } from "./compiler.ts";
import { CachedKernel } from "./kernel-cache.ts";
import { sharedBytesWith, sharedExtentsOf, withShadow } from "./launch-shadow.ts";
import { LaunchExecution, type LaunchMemory } from "./launch-execution.ts";
import { maxStallBytes } from "./launch-traits.ts";
import { type LeftToInterpreter, left } from "./left-to-interpreter.ts";
import { expectedTime, LoadedKernel } from "./loaded-kernel.ts";
import { openHost } from "./open-host.ts";
import { SavedAllocations } from "./saved-allocations.ts";
import { Shadows } from "./shadows.ts";

/** What watched launches need of the compiler that runs all others. */
export interface WatchedLaunchesPort {
  readonly program: Program;
  readonly compiler: Compiler;
  sharedMemory(): LaunchMemory;
  /** `save`: what makes it possible to undo the launch. */
  attempt(request: LaunchRequest, save: () => () => void): Attempt;
  /** Returns what is made, or why it cannot be compiled. */
  orWhyNot<T>(make: () => T): T | string;
}

interface WatchedKernel {
  readonly loaded: LoadedKernel;
  readonly functions: CompiledFunctions;
  readonly plan: ShadowPlan;
  /** How often in a row the interpreter had nothing to report where compiled code thought that there might be. */
  falseAlarms: number;
}

const alarmed = "compiled code has found that there may be something to report";

/** Alarms for nothing after which a kernel is left to the interpreter. */
const maxFalseAlarms = 2;

/**
 * Launches that sanitizers watch. Compiled code runs them, with code woven in that tells whether there may be anything
 * to report; if so, the launch is undone, and the interpreter repeats it and finds what there is.
 */
export class WatchedLaunches {
  readonly #port: WatchedLaunchesPort;
  readonly #shadows: Shadows;
  readonly #saved: SavedAllocations;
  readonly #kernels = new Map<string, WatchedKernel | string>();

  constructor(port: WatchedLaunchesPort) {
    this.#port = port;
    this.#shadows = new Shadows(port.program.memory);
    this.#saved = new SavedAllocations(port.program.memory);
  }

  /**
   * Runs a launch in compiled code, if that finds nothing to report. `isAwaited`: the host goes on meanwhile, and the
   * launch may wait for it.
   */
  run(request: LaunchRequest, isAwaited: boolean): LaunchResult | LeftToInterpreter {
    const names = request.sanitize ?? new Set();
    const { program } = this.#port;
    const watched = this.#kernelFor(request, names);
    if (typeof watched === "string") return left(watched);
    const obstacle = this.#obstacleOf(watched, request, isAwaited);
    if (obstacle !== null) return left(obstacle);
    if (names.has("memory")) program.memory.quarantine = true;
    const woven = withShadow(program, this.#shadows, watched.plan, { ...request, hostThreads: 1 }, names.has("init"));
    if (typeof woven === "string") {
      this.#shadows.giveBack();
      return left(woven);
    }
    const { written } = woven;
    const attempt = this.#port.attempt(woven.request, () =>
      written === null ? program.memory.checkpoint() : this.#saved.save(written),
    );
    const result = this.#attempt(watched, attempt);
    if (typeof result !== "string") {
      attempt.print(result);
      return result;
    }
    attempt.undo();
    const found = (reports: LaunchResult["reports"]): void => {
      watched.falseAlarms = reports.length === 0 ? watched.falseAlarms + 1 : 0;
    };
    return { why: result, id: attempt.id, found };
  }

  /** Returns why, where the interpreter has to repeat the launch. */
  #attempt({ loaded, functions }: WatchedKernel, { request, id }: Attempt): LaunchResult | string {
    const { program } = this.#port;
    const shared = this.#port.sharedMemory();
    const hosted = { program, functions: () => functions, constants: shared.constants };
    try {
      const execution = new LaunchExecution(
        program,
        loaded,
        shared,
        (grid, slot, clusters) => openHost(grid, loaded.kernel, hosted, slot, clusters),
        request,
        { apart: false, canUndo: true, id },
      );
      const result = execution.run();
      const isAlarmed = this.#shadows.takeAlarm();
      return result.ok && !isAlarmed ? result : alarmed;
    } catch (error) {
      this.#shadows.takeAlarm();
      // The interpreter refuses what makes no sense in the same way.
      if (error instanceof GivenUp) return error.message;
      if (error instanceof RangeError) return alarmed;
      throw error;
    } finally {
      this.#shadows.giveBack();
    }
  }

  #obstacleOf({ falseAlarms, loaded }: WatchedKernel, { hostClock }: LaunchRequest, isAwaited: boolean): string | null {
    const { memory } = this.#port.program;
    // It must be noticed if they wait for ever, and the host must have its turn if they wait for that.
    const mayWait = !isAwaited && hostClock !== true && memory.allocatedBytes <= maxStallBytes;
    if (loaded.kernel.waits && !mayWait) return "blocks may wait for each other";
    return falseAlarms < maxFalseAlarms ? null : "compiled code finds what is none";
  }

  #kernelFor(request: LaunchRequest, sanitizers: ReadonlySet<SanitizerName>): WatchedKernel | string {
    const { kernel, block, sharedBytes, threads, cluster, matrix } = request;
    if (threads !== undefined) return "hardware threads (vISA)";
    if (cluster !== undefined) return "clusters of blocks";
    const key = [kernel, block.join(), sharedBytes, [...sanitizers].sort().join(), matrix].join(" ");
    let known = this.#kernels.get(key);
    if (known === undefined) this.#kernels.set(key, (known = this.#compile(request, sanitizers)));
    return known;
  }

  #compile(request: LaunchRequest, sanitizers: ReadonlySet<SanitizerName>): WatchedKernel | string {
    const port = this.#port;
    const { program, compiler } = port;
    const { functions } = compiler;
    const { block } = request;
    const loaded = functions.named(request.kernel);
    if (loaded === null) return "there is no such kernel";
    if (loaded.ir.bounds.reqnctapercluster !== undefined) return "clusters";
    if (program.module.addressSize === 32) return "addresses of 32 bits";
    const form = port.orWhyNot(() => formOf(functions, loaded));
    if (typeof form === "string") return form;
    const { dynamicStart } = program.shared;
    const sharedBytes = dynamicStart + request.sharedBytes - windows.shared.start;
    const isGlobal = (name: string): boolean => program.variables.get(name)?.variable.space === "global";
    const shape: LaunchShape = { ...compiler.shapeOf(request), needlessBarriers: [], given: [] };
    const choices = { sanitizers, block, lanes: 4 * shape.quads, sharedBytes };
    for (const { ir } of form.asLoaded) {
      const lost = lostObstacleOf(ir, choices);
      if (lost !== null) return lost;
    }
    const woven = weave(
      form.reached.map(({ ir }) => ir),
      choices,
      isGlobal,
    );
    if (typeof woven === "string") return woven;
    const { plan } = woven;
    const list = [...form.functions.list];
    woven.functions.forEach((ir, i) => {
      const { number } = form.reached[i]!;
      // The launcher, too, must find the accesses that are woven in.
      list[number] = { ...list[number]!, ir, asLoaded: ir, origins: null };
    });
    const watching = new CompiledFunctions(program, list);
    return port.orWhyNot(() => {
      const known = compiler.facts(watching);
      const facts: ProgramFacts =
        plan.shared === null
          ? known
          : {
              ...known,
              shared: sharedExtentsOf(program, request.sharedBytes, plan.shared),
              sharedBytes: sharedBytesWith(plan.shared),
            };
      const made = compileKernel(watching.list[loaded.number]!, shape, facts, machineFeatures(), "any");
      const time = expectedTime(list[loaded.number]!.ir, block);
      const ready = new LoadedKernel(new CachedKernel(made), program.memory, time);
      return { loaded: ready, functions: watching, plan, falseAlarms: 0 };
    });
  }
}

/** A kernel and what it may call, as they are watched. */
interface WatchedForm {
  readonly functions: CompiledFunctions;
  /** The kernel first. */
  readonly reached: readonly CompiledFunction[];
  /** The same before functions were inlined, and those that were. */
  readonly asLoaded: readonly CompiledFunction[];
}

/** Small functions are inlined, except where the stacks may overflow: it must be at the call at which they do. */
function formOf(functions: CompiledFunctions, kernel: CompiledFunction): WatchedForm | string {
  const loaded = new CallGraph(kernel, functions);
  if (loaded.externals.size > 0) return `calls of ${[...loaded.externals].join(", ")}`;
  const asLoaded = loaded.functions;
  if (new LaneStacks(loaded, stackLimit).isChecked) return { functions, reached: asLoaded, asLoaded };
  const { inlined } = functions;
  return { functions: inlined, reached: new CallGraph(inlined.list[kernel.number]!, inlined).functions, asLoaded };
}
