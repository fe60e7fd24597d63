import { accessesOf, type MemoryAccess, windows } from "../../ir/index.ts";
import type { LaunchRequest, LaunchResult, SanitizerName } from "../../machine/launch.ts";
import { stackLimit } from "../../program/open-launch.ts";
import type { Extent } from "../../machine/memory/extent.ts";
import type { Program } from "../../program/program.ts";
import { machineFeatures } from "../../wasm/index.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { LaunchShape, Quads } from "../abi/launch-shape.ts";
import { compileKernel } from "../compile/kernel/compile-kernel.ts";
import { CallGraph } from "../compile/plan/call-graph.ts";
import { type CompiledFunction, CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import { LaneStacks } from "../compile/plan/lane-stacks.ts";
import type { ProgramFacts } from "../compile/plan/program-facts.ts";
import type { ShadowPlan } from "../compile/watch/shadow-plan.ts";
import { lostObstacleOf } from "../compile/watch/obstacles.ts";
import { weave } from "../compile/watch/weave.ts";
import { GivenUp, Stalled } from "../abi/refusal.ts";
import type { Attempt } from "./attempt.ts";
import type { Compiler } from "./compiler.ts";
import { CachedKernel } from "./kernel-cache.ts";
import { sharedBytesWith, sharedExtentIn, sharedExtentsOf, withShadow } from "./launch-shadow.ts";
import { LaunchExecution, type LaunchMemory } from "./launch-execution.ts";
import { maxStallBytes } from "./launch-traits.ts";
import { type LeftToInterpreter, left } from "./left-to-interpreter.ts";
import { expectedTime, LoadedKernel } from "./loaded-kernel.ts";
import { openHost } from "./open-host.ts";
import { type ShownChoices, ShownLaunch } from "./shown-launch.ts";
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
  /** Whether it has waited for what none of its blocks did: perhaps for the host. */
  hasStalled: boolean;
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
   * launch may wait for it. `observers`: makes the sanitizers that see what units of the machine do.
   */
  run(
    request: LaunchRequest,
    isAwaited: boolean,
    observers: ShownChoices["observers"],
  ): LaunchResult | LeftToInterpreter {
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
    const { changed, own } = woven;
    const attempt = this.#port.attempt(woven.request, () =>
      changed === null ? program.memory.checkpoint() : this.#saved.save(changed),
    );
    const { observed, unitsStore } = watched.plan;
    const sharedBytes = program.shared.dynamicStart + request.sharedBytes - windows.shared.start;
    const shown =
      observed === null
        ? null
        : new ShownLaunch({ observers, observed, own, unitsStore, checksWritten: names.has("init"), sharedBytes });
    const result = this.#attempt(watched, attempt, shown);
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
  #attempt(watched: WatchedKernel, { request, id }: Attempt, shown: ShownLaunch | null): LaunchResult | string {
    const { loaded, functions } = watched;
    const { program } = this.#port;
    const shared = this.#port.sharedMemory();
    const hosted = { program, functions: functions.list, constants: shared.constants, shown };
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
      shown?.end();
      const isAlarmed = this.#shadows.takeAlarm();
      const isFound = shown !== null && (shown.isFound || result.reports.length > 0);
      return result.ok && !isAlarmed && !isFound ? result : alarmed;
    } catch (error) {
      this.#shadows.takeAlarm();
      // The interpreter refuses what makes no sense in the same way.
      if (error instanceof Stalled) watched.hasStalled = true;
      if (error instanceof GivenUp) return error.message;
      if (error instanceof RangeError) return alarmed;
      throw error;
    } finally {
      this.#shadows.giveBack();
    }
  }

  #obstacleOf(watched: WatchedKernel, { hostClock }: LaunchRequest, isAwaited: boolean): string | null {
    const { memory } = this.#port.program;
    // It must be noticed if they wait for ever, or for what the host does meanwhile: it has no turn, and what another
    // process writes would be lost where the launch is undone.
    const isAlone = !isAwaited || (memory.history.isComplete && !watched.hasStalled);
    const mayWait = isAlone && hostClock !== true && memory.allocatedBytes <= maxStallBytes;
    if (watched.loaded.kernel.waits && !mayWait) return "blocks may wait for each other";
    return watched.falseAlarms < maxFalseAlarms ? null : "compiled code finds what is none";
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
    const loaded = functions.named(request.kernel);
    if (loaded === null) return "there is no such kernel";
    if (loaded.ir.bounds.reqnctapercluster !== undefined) return "clusters";
    if (program.module.addressSize === 32) return "addresses of 32 bits";
    const form = port.orWhyNot(() => formOf(functions, loaded));
    if (typeof form === "string") return form;
    const { dynamicStart } = program.shared;
    const sharedBytes = dynamicStart + request.sharedBytes - windows.shared.start;
    const usual = compiler.shapeOf(request);
    // What watches is woven in for several lanes.
    const several = usual.scalar ? compiler.narrowShapeOf(request, 1) : usual;
    const shape: LaunchShape = { ...(several ?? usual), needlessBarriers: [], given: [] };
    const kernel = { loaded, form, sharedBytes };
    const made = this.#weave(kernel, request, sanitizers, shape);
    const narrow = typeof made === "string" ? null : narrowQuads(made.loaded.kernel);
    if (narrow === null) return made;
    // What is woven in makes code several times as large, and a host optimizes no function that is too large. Whether
    // lanes access what others store without waiting for them is what woven code finds out, if no access is strong.
    const isWeak = form.reached.every(({ ir }) => ir.instructions.every(({ op }) => accessesOf(op).every(isPlain)));
    const narrowShape = isWeak ? compiler.narrowShapeOf(request, narrow) : null;
    if (narrowShape === null) return made;
    const again = this.#weave(kernel, request, sanitizers, { ...narrowShape, needlessBarriers: [], given: [] });
    return typeof again === "string" || again.loaded.kernel.optimizingTime === null ? made : again;
  }

  /** Weaves in what watches, and compiles that for a shape. */
  #weave(
    { loaded, form, sharedBytes }: WeavableKernel,
    request: LaunchRequest,
    sanitizers: ReadonlySet<SanitizerName>,
    shape: LaunchShape,
  ): WatchedKernel | string {
    const port = this.#port;
    const { program, compiler } = port;
    const { block } = request;
    const isGlobal = (name: string): boolean => program.variables.get(name)?.variable.space === "global";
    const sharedExtentOf = (name: string): Extent | null => sharedExtentIn(program, name, sharedBytes);
    const choices = { sanitizers, block, lanes: 4 * shape.quads, sharedBytes, sharedExtentOf };
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
      return { loaded: ready, functions: watching, plan, falseAlarms: 0, hasStalled: false };
    });
  }
}

/** Bytes of a module that a host certainly optimizes. */
const optimizedBytes = 0xc_0000;

/** A width of chunks at which a kernel is optimized that is too large for it; null where it is not. */
function narrowQuads({ optimizingTime, bytes, lanes }: CompiledKernel): Quads | null {
  if (optimizingTime !== null) return null;
  const most = (lanes / 4) * (optimizedBytes / bytes.length);
  const quads = ([4, 2, 1] as const).find((width) => width <= most) ?? 1;
  return quads < lanes / 4 ? quads : null;
}

/** Whether an access races with any other that writes, or is one of many whose order does not matter. */
const isPlain = ({ effect, access: { order, volatile } }: MemoryAccess): boolean =>
  effect === "atomic" || (order === "weak" && !volatile);

/** A kernel that can be watched. */
interface WeavableKernel {
  readonly loaded: CompiledFunction;
  readonly form: WatchedForm;
  /** Bytes of its shared memory. */
  readonly sharedBytes: number;
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
