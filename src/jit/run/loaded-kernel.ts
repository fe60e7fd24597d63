import { type Instruction, type IrFunction, isCall, leadsBack } from "../../ir/index.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { HostFunction } from "../abi/host-function.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../abi/native-code.ts";
import { hostFunctions } from "./host-functions.ts";
import type { Host } from "./host.ts";
import type { CachedKernel } from "./kernel-cache.ts";
import { TierTrial } from "./tier-trial.ts";

/** What a kernel's code says of the time that its blocks take. */
export interface ExpectedTime {
  /** Milliseconds of a block, roughly. */
  readonly blockMs: number;
  /** Milliseconds of a block, roughly, in any launch; infinite where loops, calls or sleep may take longer. */
  readonly mostMs: number;
}

/** Milliseconds that a block of a kernel has taken in the last launch that was timed; null if none was. */
export interface BlockTime {
  ms: number | null;
}

/** When kernels become machine code. */
export interface NativeTier {
  readonly compiler: NativeCompiler;
  /** Milliseconds of the host's threads that a kernel has taken before machine code is made of it. */
  readonly afterMs: number;
}

/** Milliseconds that a kernel runs before it asks again for machine code that is being made. */
const askAgainMs = 20;

/** A compiled kernel in the memory of its device. */
export class LoadedKernel {
  readonly kernel: CompiledKernel;
  /** See `ExpectedTime`. */
  readonly mostMs: number;
  /** As seen in this process. */
  readonly time: BlockTime = { ms: null };
  readonly #cached: CachedKernel;
  readonly #memory: DeviceMemory;
  readonly #functions: Readonly<Record<string, HostFunction>>;
  readonly #tier: NativeTier | null;
  #native: NativeCode | string | null = null;
  /** What runs machine code, and the module, if it has ever run. */
  #ofNative: RunBlocks | null = null;
  #ofModule: RunBlocks | null = null;
  /** Whether machine code runs, and not the module. */
  #runsNative = false;
  #trial: TierTrial | null = null;
  #refusal: string | null = null;
  /** See `spentMs`, and after how many of these machine code is asked for. */
  #spentMs = 0;
  #asksAtMs: number;
  /** Answers what the code asks in the calling thread: the host of the launch that runs it. */
  #host: (() => Host) | null = null;
  readonly #expectedMs: number;
  /** What an earlier process has noted of the code with which this one begins. */
  readonly #notedMs: number | null;
  #blocksWait = false;

  /**
   * `expected` holds until a block has been seen; `tier`: null where machine code is not asked for; `notedMs`: what a
   * block took in an earlier process.
   */
  constructor(
    cached: CachedKernel,
    memory: DeviceMemory,
    expected: ExpectedTime,
    tier: NativeTier | null = null,
    notedMs: number | null = null,
  ) {
    const { kernel } = cached;
    this.#cached = cached;
    this.kernel = kernel;
    this.mostMs = expected.mostMs;
    this.#memory = memory;
    this.#expectedMs = expected.blockMs;
    this.#tier = tier;
    this.#asksAtMs = tier?.afterMs ?? Infinity;
    this.#functions = Object.fromEntries(hostFunctions(kernel, () => this.#host!()));
    this.#native = tier === null ? "machine code was not asked for" : whyNever(kernel);
    this.#takeKept();
    this.#askForNative();
    if (!this.#runsNative) this.#ofModule = this.#moduleRun();
    this.#notedMs = this.#runsNative || cached.beginsOptimized ? notedMs : null;
  }

  /** What workers run where it is not machine code. */
  get module(): WebAssembly.Module {
    return this.#cached.module;
  }

  /** The module whose functions that one imports; null if there is none. */
  get tiles(): WebAssembly.Module | null {
    return this.#cached.tiles;
  }

  /** Machine code that runs instead of the module; or why it does not. */
  get native(): NativeCode | string {
    if (this.#native === null) return "it is not made yet";
    return this.#runsNative || typeof this.#native === "string" ? this.#native : "it is compared with compiled code";
  }

  /** Whether machine code runs, not the module. */
  get isNative(): boolean {
    return typeof this.native !== "string";
  }

  /** Why machine code, which has been asked for, does not run and never will; null if that is not so. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Takes machine code that an earlier process has left: nothing has to be waited for, and no module compiled. */
  #takeKept(): void {
    if (this.#native !== null) return;
    const kept = this.#tier!.compiler.kept?.(this.kernel.bytes, this.kernel.imports) ?? null;
    if (kept !== null) this.#answer(kept);
  }

  /** Asks for machine code, if it is time to and there is no answer yet. */
  #askForNative(): void {
    if (this.#native !== null || this.#spentMs < this.#asksAtMs) return;
    const answer = this.#tier!.compiler.compile(this.kernel.bytes, this.kernel.imports);
    this.#asksAtMs = this.#spentMs + askAgainMs;
    if (answer === null) return;
    this.#answer(answer);
    if (this.#runsNative && this.#ofModule !== null) this.#trial = new TierTrial(this.blockMs);
  }

  /** Runs machine code from now on, or never if a text says why. */
  #answer(answer: NativeCode | string): void {
    this.#native = answer;
    if (typeof answer === "string") {
      this.#refusal = answer;
      return;
    }
    this.#ofNative = this.#tier!.compiler.instance(answer, this.#memory.wasm, this.#functions);
    this.#runsNative = true;
  }

  /** Machine code that is slower than the module is given up. */
  #try(trial: TierTrial, wasNative: boolean): void {
    trial.note(wasNative, this.blockMs);
    const { isSlower } = trial;
    this.#runsNative = isSlower === null ? trial.nextIsNative : !isSlower;
    if (isSlower === null) return;
    this.#trial = null;
    if (!isSlower) return;
    this.#refusal = this.#native = "it was slower than compiled code";
    this.#tier!.compiler.giveUp?.(this.kernel.bytes, this.#native);
  }

  #moduleRun(): RunBlocks {
    const shared = { memory: this.#memory.wasm };
    const { tiles } = this;
    const ofTiles = tiles === null ? {} : new WebAssembly.Instance(tiles, { env: shared }).exports;
    const env = { ...shared, ...this.#functions, ...ofTiles };
    const run = new WebAssembly.Instance(this.module, { env }).exports["run"] as RunBlocks;
    this.#cached.noteRun(run);
    return run;
  }

  /** Milliseconds that a block takes one thread of the host. */
  get blockMs(): number {
    return this.time.ms ?? this.#expectedMs;
  }

  /**
   * The same where no other thread can share the launch. Then what an earlier process has noted is good enough, though
   * other arguments may take longer: that costs time only where the host would have optimized code meanwhile.
   */
  get blockMsAlone(): number {
    return this.time.ms ?? this.#notedMs ?? this.#expectedMs;
  }

  /**
   * Notes the milliseconds that a launch has taken the host's threads, all of them together. `isNative`: whether
   * machine code ran it; `launches`: how many it stands for, as some are not timed. From the next launch on machine
   * code may run, or the module again.
   */
  noteTime(ms: number, blocks: number, isNative: boolean, launches = 1): void {
    this.time.ms = ms / blocks;
    this.#spentMs += ms * launches;
    if (this.#trial !== null) this.#try(this.#trial, isNative);
    else this.#askForNative();
  }

  /** Milliseconds that launches have taken the host's threads, all together. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** Whether a block has waited for others: those that follow probably will too. */
  get blocksWait(): boolean {
    return this.#blocksWait;
  }

  /** Notes that a block has waited for others. */
  noteWait(): void {
    this.#blocksWait = true;
  }

  /** Runs blocks in a context. Returns `to`, or the linear index of a block that waits for others. */
  run(host: () => Host, context: number, from: number, to: number): number {
    // What answers may itself launch the kernel, as output does that is handed to the caller.
    const before = this.#host;
    this.#host = host;
    const run = (this.#runsNative ? this.#ofNative : this.#ofModule)!;
    const end = run(context, from, to) >>> 0;
    this.#host = before;
    return end;
  }
}

/** Why there will never be machine code of a kernel; null if there may be. */
const whyNever = ({ tiles }: CompiledKernel): string | null =>
  tiles.length > 0 ? "products of matrices are functions of another module" : null;

/** Rough guesses: instructions that a thread of the host executes in a millisecond, and iterations of loops. */
const instructionsPerMs = 2e6;

const iterationsOfLoops = 16;

/** The time that blocks may take, before one has been seen. */
export function expectedTime({ instructions }: IrFunction, [x, y, z]: Dim3): ExpectedTime {
  const loops = instructions.some(leadsBack);
  const blockMs = (instructions.length * x * y * z * (loops ? iterationsOfLoops : 1)) / instructionsPerMs;
  return { blockMs, mostMs: instructions.some(mayLast) ? Infinity : blockMs };
}

/** Whether an instruction may lead back to one before it, or to other code, or takes time itself. */
const mayLast = (instruction: Instruction, at: number): boolean =>
  leadsBack(instruction, at) || instruction.op.kind === "sleep" || isCall(instruction.op);
