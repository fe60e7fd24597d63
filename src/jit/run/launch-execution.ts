import { Fault } from "../../machine/faults/fault.ts";
import { addFault } from "../../machine/faults/report-sink.ts";
import { type BlockRange, blocksIn, blocksOf, type LaunchRequest, type LaunchResult } from "../../machine/launch.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import { clusterSize } from "../../machine/state/cluster.ts";
import { openLaunch, refuse } from "../../program/open-launch.ts";
import type { Program } from "../../program/program.ts";
import { mostResident } from "../../program/resident-limit.ts";
import type { HostFunction } from "../abi/host-function.ts";
import type { HostImport } from "../abi/host-imports.ts";
import type { NativeCode } from "../abi/native-code.ts";
import { Stalled } from "../abi/refusal.ts";
import { canWait, hostCores } from "../threads/host-workers.ts";
import { OrderedOutput } from "../threads/ordered-output.ts";
import { Team, type Work } from "../threads/team.ts";
import { contextBytes, type Contexts, fillContext, type LaunchExtents, mostContexts, yieldSooner } from "./contexts.ts";
import type { AllocationTables } from "./extent-tables.ts";
import { hostFunctions } from "./host-functions.ts";
import type { Host } from "./host.ts";
import { LaunchClusters } from "./launch-clusters.ts";
import type { LoadedKernel } from "./loaded-kernel.ts";

/** Makes what answers for the blocks of one slot. */
export type HostMaker = (grid: Grid, slot: number, clusters: LaunchClusters | null) => Host;

/** What launches of a program share: contexts, tables of allocations, and the byte of memory of its constants. */
export interface LaunchMemory {
  readonly contexts: Contexts;
  readonly tables: AllocationTables;
  readonly constants: number;
}

export interface JitResult extends LaunchResult {
  /** Threads of the host that have run blocks. */
  readonly hostThreads: number;
  /** Whether machine code has run them. */
  readonly isNative: boolean;
  /** Why machine code, which has been asked for, will never run the kernel; null if that is not so. */
  readonly refusal: string | null;
}

/** As many threads are always started if they are asked for, however few cores there are. */
const alwaysUseful = 16;

/**
 * As many threads of the host as are asked for, but not thousands, which would take time and memory and gain nothing.
 */
const useful = (threads: number): number =>
  threads <= alwaysUseful ? threads : Math.min(threads, Math.max(alwaysUseful, 4 * hostCores()));

export interface ExecutionChoices {
  readonly apart: boolean;
  readonly canUndo: boolean;
  readonly id: number;
}

/** A launch of a compiled kernel: the work of a team of threads of the host, which run its blocks. */
export class LaunchExecution implements Work {
  first = 0;
  end = 0;
  readonly threads: number;
  readonly expectedMs: number;
  readonly memory: WebAssembly.Memory;
  readonly native: NativeCode | null;
  readonly clock: string | null;
  readonly waits: boolean;
  readonly fingerprint: (() => number) | null;
  readonly maxContexts: number;
  readonly output: OrderedOutput;
  readonly #loaded: LoadedKernel;
  readonly #shared: LaunchMemory;
  readonly #extents: LaunchExtents;
  readonly #request: LaunchRequest;
  readonly #grid: Grid;
  /** Bytes of a context. */
  readonly #bytes: number;
  readonly #makeHost: HostMaker;
  /** Null where blocks take no notice of each other. */
  readonly #clusters: LaunchClusters | null;
  /** The launch's contexts, in the order in which they were opened. */
  readonly #opened: number[] = [];
  /** By context, since a fault keeps the block in which it was found. Null as long as compiled code calls nothing. */
  #hosts: Map<number, Host> | null = null;
  /** Answers for the context that runs. */
  readonly #host = (): Host => this.#hostOf(this.#context);
  /** The parts of the grid that run, and how many blocks these have. */
  readonly #parts: readonly BlockRange[];
  readonly #blocks: number;
  /** Blocks of the parts that have run, the most threads that have, and contexts that are free again. */
  #blocksDone = 0;
  #mostThreads = 1;
  #spare: number[] = [];
  /** Runs a part; null before the first one. */
  #team: Team | null = null;

  /**
   * `apart`: the calling thread will not wait; `canUndo`: a launch that waits forever may be given up; `id`: the number
   * of the launch.
   *
   * @throws RangeError when the request makes no sense
   */
  constructor(
    program: Program,
    loaded: LoadedKernel,
    shared: LaunchMemory,
    makeHost: HostMaker,
    request: LaunchRequest,
    { apart, canUndo, id }: ExecutionChoices,
  ) {
    // Where the clock is the host's, time alone may end what waits.
    const mayStall = canUndo && loaded.kernel.waits && request.hostClock !== true;
    this.fingerprint = mayStall ? () => this.#fingerprint() : null;
    this.#loaded = loaded;
    this.#shared = shared;
    this.#makeHost = makeHost;
    this.#request = request;
    this.output = new OrderedOutput(request.onOutput ?? (() => {}));
    const print = (text: string): void => this.output.add(this.blockIn(this.#context), text);
    const open = openLaunch(program, request, { id, print, withoutThreads: loaded.kernel.shape.width === null });
    const { grid, sharedBytes } = open;
    const { memory } = grid;
    this.#grid = grid;
    this.#bytes = contextBytes(loaded.kernel, sharedBytes);
    this.#parts = blocksOf(request);
    this.#blocks = blocksIn(this.#parts);
    this.expectedMs = loaded.blockMs;
    this.memory = memory.wasm;
    this.native = typeof loaded.native === "string" ? null : loaded.native;
    this.clock = request.hostClock === true ? ("clock" satisfies HostImport) : null;
    this.waits = loaded.kernel.waits;
    const inFlight = Math.min(mostResident(grid.block), request.threads?.residentGroups ?? Number.POSITIVE_INFINITY);
    this.maxContexts = Math.max(1, Math.min(inFlight, mostContexts(loaded.kernel, sharedBytes)));
    const canBeShared = memory.isShared && (apart || canWait());
    const hostThreads = canBeShared ? useful(request.hostThreads ?? 1) : 1;
    const inClusters = clusterSize(grid) > 1;
    // Blocks of a cluster access each other's shared memory without care for other threads of the host.
    this.threads = inClusters ? 1 : Math.min(hostThreads, this.maxContexts, this.#blocks);
    const polls = loaded.kernel.imports.includes("cluster" satisfies HostImport);
    this.#clusters = inClusters || polls ? new LaunchClusters(grid) : null;
    refuse(program, open);
    this.#extents = { allocations: shared.tables.take(loaded.kernel.readsGranules), constants: shared.constants };
  }

  get module(): WebAssembly.Module {
    return this.#loaded.module;
  }

  get tiles(): WebAssembly.Module | null {
    return this.#loaded.tiles;
  }

  run(): JitResult {
    const begun = performance.now();
    try {
      for (const team of this.#teams()) team.run();
    } catch (error) {
      this.#blame(error);
    }
    return this.#end(begun);
  }

  /** Runs the launch in workers alone, if they can see the memory. */
  async runApart(): Promise<JitResult> {
    if (!this.#grid.memory.isShared) return this.run();
    const begun = performance.now();
    try {
      for (const team of this.#teams()) await team.finish();
    } catch (error) {
      this.#blame(error);
    }
    return this.#end(begun);
  }

  /** For each part of the grid, one after the other, a team that is to run it. */
  *#teams(): Generator<Team> {
    if (this.#grid.reports.failed) return;
    for (const [first, end] of this.#parts) {
      [this.first, this.end] = [first, end];
      const team = new Team(this);
      this.#team = team;
      yield team;
      this.#blocksDone += end - first;
      this.#mostThreads = Math.max(this.#mostThreads, team.threads);
      this.#spare = [...this.#opened];
    }
  }

  get #context(): number {
    return this.#team!.context;
  }

  runBlocks(context: number, from: number, to: number): number {
    return this.#loaded.run(this.#host, context, from, to);
  }

  yieldSooner(context: number): void {
    this.#loaded.noteWait();
    yieldSooner(this.#grid, this.#loaded.kernel, context);
  }

  openContext(): number {
    const spare = this.#spare.pop();
    if (spare !== undefined) return spare;
    const context = this.#shared.contexts.take(this.#bytes);
    this.#opened.push(context);
    fillContext(this.#grid, this.#loaded.kernel, context, this.#request, this.#extents);
    if (this.#loaded.blocksWait) yieldSooner(this.#grid, this.#loaded.kernel, context);
    return context;
  }

  /** A hash of the blocks' contexts, in which their shared memory is, and of the device's allocations. */
  #fingerprint(): number {
    const { memory } = this.#grid;
    const { i32 } = memory.views;
    const ranges = [
      ...this.#opened.map((at) => [at, at + this.#bytes] as const),
      ...memory.allocations.map(({ start, end }) => [start, end] as const),
    ];
    let hash = 0;
    for (const [start, end] of ranges) {
      for (let at = start >>> 2; at < end / 4; at++) hash = (Math.imul(hash, 0x0100_0193) ^ i32[at]!) | 0;
    }
    return hash;
  }

  stuck(): Error {
    return new Stalled("all blocks wait for what none of them does");
  }

  blockIn(context: number): number {
    const { layout } = this.#loaded.kernel;
    return this.#grid.memory.views.i32[(context + layout.words.blockIndex) >>> 2]! >>> 0;
  }

  functions(): ReadonlyMap<string, HostFunction> {
    return hostFunctions(this.#loaded.kernel, this.#host);
  }

  onProgress(end: number): void {
    const blocksDone = this.#blocksDone + Math.max(0, end - this.first);
    this.#request.onProgress?.({ blocksDone, blocks: this.#blocks, steps: null });
  }

  #hostOf(context: number): Host {
    this.#hosts ??= new Map();
    let host = this.#hosts.get(context);
    if (host === undefined) {
      // Blocks that run at the same time need different slots.
      host = this.#makeHost(this.#grid, this.#opened.indexOf(context), this.#clusters);
      this.#hosts.set(context, host);
    }
    return host;
  }

  /** Turns a fault into a report; throws other errors. */
  #blame(error: unknown): void {
    if (error instanceof Fault) addFault(this.#grid.reports, error);
    else {
      this.#giveBack();
      throw error;
    }
  }

  #giveBack(): void {
    this.#shared.contexts.giveBack(this.#bytes, this.#opened);
    this.#shared.tables.giveBack(this.#extents.allocations);
  }

  #end(begun: number): JitResult {
    this.#giveBack();
    const hostThreads = Math.max(this.#mostThreads, this.#team?.threads ?? 1);
    const { reports } = this.#grid;
    const isNative = this.native !== null;
    if (!reports.failed) this.#loaded.noteTime((performance.now() - begun) * hostThreads, this.#blocks, isNative);
    const { refusal } = this.#loaded;
    return { ok: !reports.failed, steps: null, reports: reports.reports, hostThreads, isNative, refusal };
  }
}
