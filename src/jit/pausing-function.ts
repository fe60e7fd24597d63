import { type Wasm, wasm, type WasmTy } from "../wasm/index.ts";
import type { Body } from "./body.ts";
import type { CallGraph } from "./call-graph.ts";
import type { Callable } from "./callables.ts";
import type { Chunk } from "./chunk.ts";
import { giveUpImport } from "./given-up.ts";
import { anyOf, laneBits } from "./lane-bits.ts";
import type { MemoryContext } from "./locator.ts";
import type { FunctionPlan } from "./plan.ts";
import { stateBytesFor, type Suspension } from "./suspension.ts";
import type { Unit } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";

/** What a function says that has come back. */
export const pausedWord = { ended: 0, barrier: 1, yield: 2 } as const;

/** Words of a function's state: whether an activation of the chunk waits in it, and the lanes of that. */
const words = { isOpen: 0, lanes: 4 } as const;

/** Where functions that may pause keep what they go on with, behind the kernel's state of a chunk. Throws Unsupported. */
export function functionStatesOf(plans: readonly FunctionPlan[], graph: CallGraph, quads: number) {
  const offsets = new Map<Callable, number>();
  let bytes = 0;
  for (const { callable, code, analysis, pauses } of plans) {
    if (!graph.pauses(callable)) continue;
    if (code.instructions.at(-1)?.op.kind === "barrier") throw new Unsupported("a barrier at the end of a function");
    if (callable.part !== null) throw new Unsupported("pauses in functions");
    if (graph.order.recursive) throw new Unsupported("pauses in functions, and others that call themselves");
    offsets.set(callable, bytes);
    // With the lanes that have ended.
    bytes += stateBytesFor(analysis, pauses, quads) + 16 * quads;
  }
  return { offsets, bytes };
}

/** The lanes with which a function begins, and (in locals) those that have ended in it, where some may. */
interface Lanes {
  readonly callable: Callable;
  readonly called: readonly Wasm[];
  readonly ended: readonly number[] | null;
}

/**
 * A function that comes back before it has ended when its lanes wait for other threads, and is called once more by the same ones to go
 * on. Of a chunk one activation can wait; where there would be two, or lanes have returned while others wait, the launch is given up.
 */
export class PausingFunction {
  readonly #unit: Unit;
  readonly #memory: MemoryContext;
  readonly #chunk: Chunk;
  readonly #body: Body;
  readonly #suspension: Suspension;
  readonly #lanes: Lanes;

  constructor(unit: Unit, memory: MemoryContext, chunk: Chunk, body: Body, suspension: Suspension, lanes: Lanes) {
    this.#unit = unit;
    this.#memory = memory;
    this.#chunk = chunk;
    this.#body = body;
    this.#suspension = suspension;
    this.#lanes = lanes;
    unit.module.importFunction(giveUpImport, [], []);
    unit.mayGiveUp = true;
  }

  /** Begins, or goes on. */
  enter(begin: () => void): void {
    const { writer: w } = this.#chunk;
    const { state } = this.#suspension;
    this.#load("state");
    w.value(wasm.i32(this.#unit.kernelStateBytes + this.#unit.functionStates.get(this.#lanes.callable)!));
    w.op("i32.add");
    w.set(state);
    w.get(state);
    w.memory("i32.load", 4, words.isOpen);
    w.if(() => {
      w.get(state);
      w.memory("i32.load", 4, words.lanes);
      w.value(laneBits(this.#lanes.called));
      w.op("i32.ne");
      w.if(() => w.call(giveUpImport));
      this.#suspension.restore();
      this.#body.counted?.resume();
      this.#body.begin();
      this.#load("woken");
      w.if(
        () => this.#body.flow.resume("yield"),
        () => this.#body.flow.resume("barrier"),
      );
    }, begin);
  }

  /** Comes back early if lanes wait. `results`: the types of what the caller expects, which then means nothing. */
  leaveIfPaused(results: readonly WasmTy[]): void {
    const { writer: w } = this.#chunk;
    const { called, ended } = this.#lanes;
    const [yields, waits] = [this.#suspension.anyPaused("yield"), this.#suspension.anyPaused("barrier")];
    w.value(wasm.op("i32.or", yields, waits));
    w.if(() => {
      const away = [...this.#suspension.masks, ...(ended === null ? [] : [ended])];
      const returned = called.map((lanes, q) =>
        away.reduce((rest, mask) => wasm.op("v128.andnot", rest, wasm.local("v128", mask[q]!)), lanes),
      );
      w.value(anyOf(returned));
      w.if(() => w.call(giveUpImport));
      this.#suspension.save();
      this.#store(words.isOpen, wasm.i32(1));
      this.#store(words.lanes, laneBits(called));
      this.#say(wasm.select(yields, wasm.i32(pausedWord.yield), wasm.i32(pausedWord.barrier)));
      const nothing = { i32: wasm.i32(0), i64: wasm.i64(0n), v128: wasm.i32x4(0), f32: wasm.f32(0), f64: wasm.f64(0) };
      w.values(results.map((ty) => nothing[ty]));
      w.return();
    });
    this.#store(words.isOpen, wasm.i32(0));
    this.#say(wasm.i32(pausedWord.ended));
  }

  #load(name: "state" | "woken"): void {
    const { writer: w } = this.#chunk;
    const { context, layout } = this.#memory;
    w.get(context);
    w.memory("i32.load", 4, layout.words[name]);
  }

  #say(value: Wasm): void {
    const { writer: w } = this.#chunk;
    const { context, layout } = this.#memory;
    w.get(context);
    w.value(value);
    w.memory("i32.store", 4, layout.words.paused);
  }

  #store(at: number, value: Wasm): void {
    const { writer: w } = this.#chunk;
    w.get(this.#suspension.state);
    w.value(value);
    w.memory("i32.store", 4, at);
  }
}
