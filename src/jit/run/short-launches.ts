import { windows } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { addFault } from "../../machine/faults/report-sink.ts";
import type { LaunchRequest } from "../../machine/launch.ts";
import { type Dim3, isSameDim3, type Report } from "../../machine/reports/report.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import { clusterSize } from "../../machine/state/cluster.ts";
import { type OpenLaunch, openLaunch, refuse } from "../../program/open-launch.ts";
import type { Program } from "../../program/program.ts";
import type { HostImport } from "../abi/host-imports.ts";
import { contextBytes, fillContext, fillForLaunch } from "./contexts.ts";
import type { ExtentTable } from "./extent-tables.ts";
import type { Host } from "./host.ts";
import type { HostMaker, JitResult, LaunchMemory } from "./launch-execution.ts";
import type { LoadedKernel } from "./loaded-kernel.ts";

/**
 * Milliseconds of a launch that nobody shares: where workers may be asked for, where there are none, and where the
 * caller does not want to wait, who would spend about as long on a message to a worker.
 */
const shortMs = { shared: 0.3, alone: 1, apart: 0.03 };

/** Launches after a timed one that are not timed: reading the clock takes a tenth of the time of the shortest. */
const untimedLaunches = 15;

/** Bytes of a context that is kept for one kernel. */
const maxKeptBytes = 2 ** 18;

/** The sizes for which the context is filled, and the table of allocations that it names. */
interface Filled {
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly paramBytes: number;
  readonly table: ExtentTable;
}

const noReports: readonly Report[] = [];

const isCount = (n: number): boolean => Number.isInteger(n) && n >= 1;

/**
 * The launches of one kernel that take less time than a team would cost: the calling thread runs all blocks at once.
 * The kernel keeps a context, in which a launch like the one before it writes only what is new. The grid as an object
 * of the machine is made where compiled code asks the host for something.
 */
export class ShortLaunches {
  readonly #program: Program;
  readonly #loaded: LoadedKernel;
  readonly #openShared: () => LaunchMemory;
  #shared: LaunchMemory | null = null;
  readonly #makeHost: HostMaker;
  /** Whether launches of this kernel may be short at all. */
  readonly #suits: boolean;
  /** Whether records of accesses hold for the next launch too: they name no surfaces, which depend on arguments. */
  readonly #keepsRecords: boolean;
  #context: { readonly at: number; readonly bytes: number } | null = null;
  #filled: Filled | null = null;
  /** The launch that runs: what was asked for, its number, and once they are needed its grid and host. */
  #request: LaunchRequest | null = null;
  #id = 0;
  #grid: Grid | null = null;
  #host: Host | null = null;
  /** Launches that need not be timed. */
  #untimed = 0;
  readonly #answer = (): Host => (this.#host ??= this.#makeHost(this.#openGrid(), 0, null));

  /** `shared` places the module's constants in the device's memory, if they are not there. */
  constructor(program: Program, loaded: LoadedKernel, shared: () => LaunchMemory, makeHost: HostMaker) {
    this.#program = program;
    this.#loaded = loaded;
    this.#openShared = shared;
    this.#makeHost = makeHost;
    const { waits, imports, shape } = loaded.kernel;
    this.#keepsRecords = !imports.includes("surface" satisfies HostImport);
    this.#suits = !waits && !shape.clustered && !imports.includes("cluster" satisfies HostImport);
  }

  /** Whether a launch is run here: nobody needs a turn meanwhile, or word of how far it is. */
  take(request: LaunchRequest): boolean {
    const { hostThreads = 1 } = request;
    return hostThreads === 1
      ? this.#takes(request, this.#loaded.blockMsAlone, shortMs.alone)
      : this.#takes(request, this.#loaded.blockMs, shortMs.shared);
  }

  /** Whether a launch is run here although its caller does not want to wait: by its code it takes next to no time. */
  takeApart(request: LaunchRequest): boolean {
    return this.#takes(request, this.#loaded.mostMs, shortMs.apart);
  }

  #takes(request: LaunchRequest, blockMs: number, limitMs: number): boolean {
    const { grid, blocks, cluster, threads, onProgress, sharedBytes } = request;
    const { shape } = this.#loaded.kernel;
    // Hardware threads have memory of their own, which each launch gives them.
    const inThreads = threads !== undefined && shape.width !== null;
    if (!this.#suits || blocks !== undefined || cluster !== undefined || inThreads) return false;
    // A function of the host may launch the kernel that has called it.
    if (onProgress !== undefined || this.#request !== null) return false;
    if (grid[0] * grid[1] * grid[2] * blockMs >= limitMs) return false;
    const ownBytes = this.#program.shared.dynamicStart - windows.shared.start;
    return contextBytes(this.#loaded.kernel, ownBytes + sharedBytes) <= maxKeptBytes;
  }

  /** `id`: the launch's number. Throws a RangeError when the request makes no sense. */
  run(request: LaunchRequest, id: number): JitResult {
    const { grid } = request;
    const isTimed = this.#isTimed(request);
    const { isNative, refusal } = this.#loaded;
    const begun = isTimed ? performance.now() : 0;
    this.#begin(request, id);
    let isDone = false;
    try {
      const context = this.#fill(request);
      const blocks = grid[0] * grid[1] * grid[2];
      if (!this.#hasFailed()) this.#loaded.run(this.#answer, context, 0, blocks);
      isDone = !this.#hasFailed();
      if (isDone && isTimed) this.#noteTime(request, performance.now() - begun, blocks, isNative);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      addFault(this.#openGrid().reports, error);
    } finally {
      // What a launch leaves that has not come to its end is not known.
      if (!isDone) this.#filled = null;
      this.#request = null;
    }
    const reports = this.#grid?.reports.reports ?? noReports;
    return { ok: !this.#hasFailed(), steps: null, reports, hostThreads: 1, isNative, refusal };
  }

  /** Where workers may be asked for, the time of every launch counts: the next one may be worth sharing. */
  #isTimed({ hostThreads = 1 }: LaunchRequest): boolean {
    if (hostThreads > 1 || this.#untimed === 0) return true;
    this.#untimed--;
    return false;
  }

  #noteTime({ hostThreads = 1 }: LaunchRequest, ms: number, blocks: number, isNative: boolean): void {
    this.#loaded.noteTime(ms, blocks, isNative, hostThreads > 1 ? 1 : 1 + untimedLaunches);
    this.#untimed = untimedLaunches;
  }

  #begin(request: LaunchRequest, id: number): void {
    this.#request = request;
    this.#id = id;
    this.#grid = null;
    this.#host = null;
  }

  #hasFailed(): boolean {
    return this.#grid?.reports.failed === true;
  }

  #openGrid(): Grid {
    return (this.#grid ??= this.#open(this.#request!).grid);
  }

  #open(request: LaunchRequest): OpenLaunch {
    return openLaunch(this.#program, request, { id: this.#id, withoutThreads: true });
  }

  /** Returns the context, filled for a launch. */
  #fill(request: LaunchRequest): number {
    const { tables } = (this.#shared ??= this.#openShared());
    const table = tables.take(this.#loaded.kernel.readsGranules);
    // No other launch begins while this one runs, so that the table stays as it is.
    tables.giveBack(table);
    if (this.#filled !== null && this.#isFilledFor(request, table, this.#filled)) {
      const { kernel } = this.#loaded;
      return fillForLaunch(this.#program, kernel, this.#context!.at, this.#id, request, this.#keepsRecords);
    }
    return this.#fillAnew(request, table);
  }

  #isFilledFor(request: LaunchRequest, table: ExtentTable, last: Filled): boolean {
    const { grid, block, sharedBytes, params, environment } = request;
    return (
      last.table === table &&
      last.sharedBytes === sharedBytes &&
      last.paramBytes === params.length &&
      isSameDim3(last.block, block) &&
      grid.every(isCount) &&
      environment === undefined
    );
  }

  #fillAnew(request: LaunchRequest, table: ExtentTable): number {
    const { kernel } = this.#loaded;
    const { block, sharedBytes, params, environment } = request;
    const open = this.#open(request);
    this.#grid = open.grid;
    refuse(this.#program, open);
    const at = this.#roomFor(contextBytes(kernel, open.sharedBytes));
    fillContext(open.grid, kernel, at, request, { allocations: table, constants: this.#shared!.constants });
    const isUsual = environment === undefined && clusterSize(open.grid) === 1;
    this.#filled = isUsual ? { block, sharedBytes, paramBytes: params.length, table } : null;
    return at;
  }

  #roomFor(bytes: number): number {
    const { contexts } = this.#shared!;
    if (this.#context !== null) {
      if (this.#context.bytes >= bytes) return this.#context.at;
      contexts.giveBack(this.#context.bytes, [this.#context.at]);
    }
    this.#context = { at: contexts.take(bytes), bytes };
    return this.#context.at;
  }
}
