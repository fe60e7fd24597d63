import { openLaunch, refuse } from "../interpreter/launch.ts";
import type { Program } from "../interpreter/program.ts";
import { Fault } from "../machine/fault.ts";
import type { Grid } from "../machine/grid.ts";
import type { LaunchRequest, LaunchResult } from "../machine/launch.ts";
import { contextBytes, type Contexts, fillContext, hasten } from "./contexts.ts";
import type { Host } from "./host.ts";
import { hostFunctions } from "./host-functions.ts";
import type { CompiledKernel } from "./kernel.ts";
import { canWait } from "./threads/host-workers.ts";
import { OrderedOutput } from "./threads/ordered-output.ts";
import { Team } from "./threads/team.ts";

/** A compiled kernel in the memory of its device. */
export interface LoadedKernel {
  readonly kernel: CompiledKernel;
  readonly module: WebAssembly.Module;
  /** Returns the end, or the number of a block that waits for others. */
  readonly run: (context: number, from: number, to: number) => number;
  /** Who answers what the code asks in the calling thread; another one for each launch. */
  host: Host | null;
  /** What a block takes one thread, in milliseconds: guessed at first, then as it was in the last launch. */
  blockMs: number;
}

export interface JitResult extends LaunchResult {
  /** Threads of the host that have run blocks. */
  readonly hostThreads: number;
}

/** All contexts of a launch together are not larger than this, in bytes. */
const mostContextBytes = 2 ** 29;
/** Blocks that have begun and not ended, where they wait for each other. */
const mostInFlight = 512;

/** A launch of a compiled kernel, and the threads of the host that run its blocks. */
export class Execution {
  readonly #loaded: LoadedKernel;
  readonly #contexts: Contexts;
  readonly #request: LaunchRequest;
  readonly #grid: Grid;
  /** Bytes of a context. */
  readonly #bytes: number;
  readonly #makeHost: () => Host;
  /** By the context for which it answers: a fault keeps the block in which it was found. */
  readonly #hosts = new Map<number, Host>();
  readonly #blocks: number;
  /** Null when the launch is refused. */
  readonly #team: Team | null;

  /** `apart`: the calling thread will not wait. Throws a RangeError when the request makes no sense. */
  constructor(
    program: Program,
    loaded: LoadedKernel,
    contexts: Contexts,
    host: (grid: Grid, slot: number) => Host,
    request: LaunchRequest,
    apart: boolean,
  ) {
    this.#loaded = loaded;
    this.#contexts = contexts;
    this.#request = request;
    const output = new OrderedOutput(request.onOutput ?? (() => {}));
    const onOutput = (text: string): void => output.add(this.#blockIn(this.#team!.context), text);
    const { grid, kernel, sharedBytes } = openLaunch(program, { ...request, onOutput });
    const [gx, gy, gz] = grid.dimensions;
    this.#grid = grid;
    this.#blocks = gx * gy * gz;
    this.#bytes = contextBytes(loaded.kernel, sharedBytes);
    // Blocks that run at the same time have different slots.
    this.#makeHost = () => host(grid, this.#hosts.size);
    refuse(program, kernel, grid, sharedBytes);
    this.#team = grid.reports.failed ? null : this.#makeTeam(output, apart);
  }

  run(): JitResult {
    const begun = performance.now();
    try {
      this.#team?.run();
    } catch (error) {
      this.#blame(error);
    }
    return this.#end(begun);
  }

  /** The same, with workers alone where they can see the memory. */
  async runApart(): Promise<JitResult> {
    if (!this.#grid.memory.isShared) return this.run();
    const begun = performance.now();
    try {
      await this.#team?.finish();
    } catch (error) {
      this.#blame(error);
    }
    return this.#end(begun);
  }

  #makeTeam(output: OrderedOutput, apart: boolean): Team {
    const { kernel, module, run, blockMs } = this.#loaded;
    const { memory } = this.#grid;
    const { onProgress, hostThreads = 1 } = this.#request;
    const inFlight = Math.min(mostInFlight, this.#request.threads?.residentGroups ?? mostInFlight);
    const mostContexts = Math.max(1, Math.min(inFlight, Math.floor(mostContextBytes / this.#bytes)));
    const blocks = this.#blocks;
    const canBeShared = memory.isShared && (apart || canWait());
    return new Team({
      blocks,
      threads: canBeShared ? Math.min(hostThreads, mostContexts, blocks) : 1,
      expectedMs: blockMs,
      module,
      memory: memory.wasm,
      run: (context, from, to) => {
        this.#loaded.host = this.#hosts.get(context)!;
        return run(context, from, to) >>> 0;
      },
      waits: kernel.waits,
      hasten: (context) => hasten(this.#grid, kernel, context),
      mostContexts,
      openContext: () => this.#openContext(),
      blockIn: (context) => this.#blockIn(context),
      functions: () => hostFunctions(kernel, () => this.#hosts.get(this.#team!.context)!),
      output,
      onProgress: (blocksDone) => onProgress?.({ blocksDone, blocks, steps: null }),
    });
  }

  #blockIn(context: number): number {
    const { layout } = this.#loaded.kernel;
    return this.#grid.memory.views.i32[(context + layout.words.ticket) >>> 2]! >>> 0;
  }

  #openContext(): number {
    const context = this.#contexts.take(this.#bytes);
    this.#hosts.set(context, this.#makeHost());
    fillContext(this.#grid, this.#loaded.kernel, context, this.#request);
    return context;
  }

  /** A fault ends a launch; other errors are thrown. */
  #blame(error: unknown): void {
    if (error instanceof Fault) this.#grid.reports.fault(error);
    else {
      this.#giveBack();
      throw error;
    }
  }

  #giveBack(): void {
    this.#contexts.giveBack(this.#bytes, [...this.#hosts.keys()]);
  }

  #end(begun: number): JitResult {
    this.#giveBack();
    const hostThreads = this.#team?.threads ?? 1;
    const { reports } = this.#grid;
    if (!reports.failed) this.#loaded.blockMs = ((performance.now() - begun) * hostThreads) / this.#blocks;
    return { ok: !reports.failed, steps: null, reports: reports.reports, hostThreads };
  }
}
