import { type FunctionWriter, type ModuleWriter, wasm } from "../../../wasm/index.ts";
import { suspendedFrameWords } from "../../abi/chunk-state.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import { maxThreads } from "../../abi/launch-shape.ts";
import type { CallGraph } from "../plan/call-graph.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import type { KernelPlan } from "../plan/kernel-plan.ts";
import { soleFunctions } from "../plan/partial-returns.ts";
import { stateBytesFor } from "../plan/suspension-points.ts";
import { giveUpIf } from "./host-calls.ts";

/** Bytes for the suspended frames of a function, at most. */
const maxBytes = 2 ** 22;

/** Words of a pool: the first frame of its free list, and the bytes that have been taken so far. */
const poolWords = { free: 0, taken: 4 } as const;

/** Bytes of a pool's words. */
const poolWordsBytes = 8;

interface Pool {
  /** Offsets of its words among those of all pools, and of its frames. */
  readonly words: number;
  readonly start: number;
  readonly bytes: number;
  /** Bytes of a frame. */
  readonly size: number;
}

/**
 * Suspended frames, in which activations keep what they resume with while their lanes wait for other threads: a pool
 * for each function that may suspend.
 */
export class SuspendedFrames {
  readonly bytes: number;
  /** Bytes of the pools' words, which are zeros when a launch begins. */
  readonly poolBytes: number;
  /** Whether there may be more frames than there is room for. */
  readonly mayOverflow: boolean;
  readonly #pools: ReadonlyMap<CompiledFunction, Pool>;

  /** `chunks`: of a block, at most. */
  constructor(kernel: KernelPlan, plans: readonly FunctionPlan[], graph: CallGraph, quads: number, chunks: number) {
    const suspending = plans.filter(({ compiled }) => graph.suspends(compiled));
    const { recursive } = graph.order;
    const sole = soleFunctions(kernel, plans, graph);
    const pools = new Map<CompiledFunction, Pool>();
    this.poolBytes = poolWordsBytes * suspending.length;
    let at = 0;
    let mayOverflow = recursive;
    for (const [i, { compiled, analysis, points }] of suspending.entries()) {
      const size = stateBytesFor(analysis, points, quads, compiled.part !== null);
      const room = Math.max(1, Math.floor(maxBytes / size));
      // Without recursion a lane is in one activation of a function at a time; with it there is no limit.
      const maxFrames = recursive ? room : sole.has(compiled) ? chunks : maxThreads;
      const count = Math.min(room, maxFrames);
      mayOverflow ||= count < maxFrames;
      pools.set(compiled, { words: poolWordsBytes * i, start: at, bytes: count * size, size });
      at += count * size;
    }
    this.bytes = at;
    this.mayOverflow = mayOverflow;
    this.#pools = pools;
  }

  get isUsed(): boolean {
    return this.#pools.size > 0;
  }

  has(f: CompiledFunction): boolean {
    return this.#pools.has(f);
  }

  /** Bytes of a suspended frame. */
  sizeOf(f: CompiledFunction): number {
    return this.#pools.get(f)!.size;
  }

  /** Takes a free frame, and puts the byte of memory where it begins into a local. */
  take(
    module: ModuleWriter,
    { framePools, suspendedFrames }: ContextLayout,
    w: FunctionWriter,
    f: CompiledFunction,
    context: number,
    to: number,
  ): void {
    const { words, start, bytes, size } = this.#pools.get(f)!;
    const word = (name: keyof typeof poolWords): number => framePools + words + poolWords[name];
    w.get(context);
    w.memory("i32.load", 4, word("free"));
    w.tee(to);
    w.if(
      () => {
        w.get(context);
        w.get(to);
        w.memory("i32.load", 4, suspendedFrameWords.next);
        w.memory("i32.store", 4, word("free"));
      },
      () => {
        w.get(context);
        w.memory("i32.load", 4, word("taken"));
        w.set(to);
        if (this.mayOverflow) {
          const isFull = wasm.op("i32.ge_u", wasm.local("i32", to), wasm.i32(bytes));
          giveUpIf(module, w, isFull, "manyWaits");
        }
        w.get(context);
        w.value(wasm.op("i32.add", wasm.local("i32", to), wasm.i32(size)));
        w.memory("i32.store", 4, word("taken"));
        const first = wasm.op("i32.add", wasm.local("i32", context), wasm.i32(suspendedFrames + start));
        w.assign([{ local: to, value: wasm.op("i32.add", wasm.local("i32", to), first) }]);
      },
    );
  }

  /** Frees the frame at a byte of memory that is in a local. */
  giveBack({ framePools }: ContextLayout, w: FunctionWriter, f: CompiledFunction, context: number, at: number): void {
    const free = framePools + this.#pools.get(f)!.words + poolWords.free;
    w.get(at);
    w.get(context);
    w.memory("i32.load", 4, free);
    w.memory("i32.store", 4, suspendedFrameWords.next);
    w.get(context);
    w.get(at);
    w.memory("i32.store", 4, free);
  }
}
