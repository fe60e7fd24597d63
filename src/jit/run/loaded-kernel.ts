import type { IrFunction } from "../../ir/index.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../abi/native-code.ts";
import { hostFunctions } from "./host-functions.ts";
import type { Host } from "./host.ts";
import type { CachedKernel } from "./kernel-cache.ts";

/** A compiled kernel in the memory of its device. */
export class LoadedKernel {
  readonly kernel: CompiledKernel;
  readonly module: WebAssembly.Module;
  readonly tiles: WebAssembly.Module | null;
  /** Machine code that runs instead of the module; or why there is none. */
  readonly native: NativeCode | string;
  readonly #run: RunBlocks;
  /** Answers what the code asks in the calling thread: the host of the launch that runs it. */
  #host: (() => Host) | null = null;
  #blockMs: number;
  #blocksWait = false;

  /** `blockMs`: a guess, until a block has been seen; `native`: null where machine code is not asked for. */
  constructor(
    { kernel, module, tiles }: CachedKernel,
    memory: DeviceMemory,
    blockMs: number,
    native: NativeCompiler | null = null,
  ) {
    this.kernel = kernel;
    this.module = module;
    this.tiles = tiles;
    this.#blockMs = blockMs;
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

/** Milliseconds that a block may take, before one has been seen. */
export function guessedMs({ instructions }: IrFunction, [x, y, z]: Dim3): number {
  const loops = instructions.some(({ op }, i) => op.kind === "branch" && op.target <= i);
  return (instructions.length * x * y * z * (loops ? iterationsOfLoops : 1)) / instructionsPerMs;
}
