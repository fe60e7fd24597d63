import { type Instruction, type IrFunction, isCall } from "../../ir/index.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../abi/native-code.ts";
import { hostFunctions } from "./host-functions.ts";
import type { Host } from "./host.ts";
import type { CachedKernel } from "./kernel-cache.ts";

/** What a kernel's code says of the time that its blocks take. */
export interface ExpectedTime {
  /** Milliseconds of a block, roughly. */
  readonly blockMs: number;
  /** Milliseconds of a block, roughly, in any launch; infinite where loops, calls or sleep may take longer. */
  readonly mostMs: number;
}

/** A compiled kernel in the memory of its device. */
export class LoadedKernel {
  readonly kernel: CompiledKernel;
  readonly module: WebAssembly.Module;
  readonly tiles: WebAssembly.Module | null;
  /** Machine code that runs instead of the module; or why there is none. */
  readonly native: NativeCode | string;
  /** See `ExpectedTime`. */
  readonly mostMs: number;
  readonly #run: RunBlocks;
  /** Answers what the code asks in the calling thread: the host of the launch that runs it. */
  #host: (() => Host) | null = null;
  #blockMs: number;
  #blocksWait = false;

  /** `expected` holds until a block has been seen; `native`: null where machine code is not asked for. */
  constructor(
    { kernel, module, tiles }: CachedKernel,
    memory: DeviceMemory,
    expected: ExpectedTime,
    native: NativeCompiler | null = null,
  ) {
    this.kernel = kernel;
    this.module = module;
    this.tiles = tiles;
    this.mostMs = expected.mostMs;
    this.#blockMs = expected.blockMs;
    const functions = Object.fromEntries(hostFunctions(kernel, () => this.#host!()));
    this.native = nativeCodeOf(kernel, native);
    if (native !== null && typeof this.native !== "string") {
      this.#run = native.instance(this.native, memory.wasm, functions);
      return;
    }
    const shared = { memory: memory.wasm };
    const ofTiles = tiles === null ? {} : new WebAssembly.Instance(tiles, { env: shared }).exports;
    const env = { ...shared, ...functions, ...ofTiles };
    const { exports } = new WebAssembly.Instance(module, { env });
    this.#run = exports["run"] as RunBlocks;
  }

  /** Milliseconds that a block takes one thread of the host. */
  get blockMs(): number {
    return this.#blockMs;
  }

  /** Notes what the blocks of a launch have taken, in milliseconds each. */
  noteTime(blockMs: number): void {
    this.#blockMs = blockMs;
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
    const end = this.#run(context, from, to) >>> 0;
    this.#host = before;
    return end;
  }
}

function nativeCodeOf({ bytes, tiles }: CompiledKernel, native: NativeCompiler | null): NativeCode | string {
  if (native === null) return "machine code was not asked for";
  if (tiles.length > 0) return "products of matrices are functions of another module";
  return native.compile(bytes);
}

/** Rough guesses: instructions that a thread of the host executes in a millisecond, and iterations of loops. */
const instructionsPerMs = 2e6;

const iterationsOfLoops = 16;

/** The time that blocks may take, before one has been seen. */
export function expectedTime({ instructions }: IrFunction, [x, y, z]: Dim3): ExpectedTime {
  const loops = instructions.some(({ op }, i) => op.kind === "branch" && op.target <= i);
  const blockMs = (instructions.length * x * y * z * (loops ? iterationsOfLoops : 1)) / instructionsPerMs;
  return { blockMs, mostMs: instructions.some(mayLast) ? Infinity : blockMs };
}

/** Whether an instruction may lead back to one before it, or to other code, or takes time itself. */
function mayLast({ op }: Instruction, at: number): boolean {
  if (op.kind === "branch") return op.target <= at;
  if (op.kind === "branch-indexed") return op.targets.some((target) => target <= at);
  return op.kind === "sleep" || isCall(op);
}
