import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import type { Callable } from "./callables.ts";
import type { CallGraph } from "./call-graph.ts";
import type { Frame } from "./frame.ts";
import type { Stacks } from "./stacks.ts";
import type { Unit } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";

/** Threads of a block at most. */
const mostThreads = 1024;

/**
 * What becomes of the kernel's frame when another chunk runs before it has ended. `common`: chunks have the same stacks, and
 * leave nothing there. `own`: each has stacks of its own. `kept`: stacks are too large for that, and the frame is moved away.
 */
export type StackMode = "common" | "own" | "kept";

/** `takesTurns`: chunks wait for each other. Throws Unsupported. */
export function stackModeOf(kernel: Callable, stacks: Stacks, graph: CallGraph, takesTurns: boolean): StackMode {
  if (!takesTurns || !stacks.isUsed) return "common";
  if (graph.pausesInFunctions) {
    if (graph.functions.some((f) => f.allocates)) throw new Unsupported("alloca, beside pauses in functions");
    if (kernel.code.frame.size > stacks.staging) throw new Unsupported("a large frame, beside pauses in functions");
    return "own";
  }
  if (kernel.allocates) throw new Unsupported("alloca where lanes wait for each other");
  if (stacks.variablesOf(kernel).size === 0) return "common";
  return stacks.isChecked ? "kept" : "own";
}

/** Bytes of the stacks, and of the frames that are moved away from them. */
export function stackBytesOf(mode: StackMode, kernel: Callable, stacks: Stacks, lanes: number) {
  return {
    stackBytes: stacks.stride * (mode === "own" ? mostThreads : lanes),
    frameBytes: mode === "kept" ? kernel.code.frame.size * mostThreads : 0,
  };
}

/** The stacks of the kernel's lanes, chunk by chunk. */
export class KernelStacks {
  readonly #unit: Unit;
  readonly #writer: FunctionWriter;
  readonly #context: number;
  /** The local with the first thread of the chunk. */
  readonly #first: number;
  readonly #frame: Frame;
  /** The first thread of the chunk whose frame is in the stacks, which several have in common; -1: none. */
  readonly #held: number | null;

  constructor(unit: Unit, writer: FunctionWriter, context: number, first: number, frame: Frame) {
    this.#unit = unit;
    this.#writer = writer;
    this.#context = context;
    this.#first = first;
    this.#frame = frame;
    this.#held = unit.stackMode === "kept" ? writer.local("i32") : null;
  }

  /** Before the first chunk. */
  begin(): void {
    if (this.#held !== null) this.#writer.assign([{ local: this.#held, value: wasm.i32(-1) }]);
  }

  /** A chunk begins, or goes on. */
  place(): void {
    const { layout, stacks, stackMode } = this.#unit;
    if (!stacks.isUsed) return;
    const w = this.#writer;
    const start = wasm.op("i32.add", wasm.local("i32", this.#context), wasm.i32(layout.stacks));
    const first = wasm.local("i32", this.#first);
    w.value(
      stackMode === "own" ? wasm.op("i32.add", start, wasm.op("i32.mul", first, wasm.i32(stacks.stride))) : start,
    );
    this.#frame.place();
    w.get(this.#context);
    this.#frame.pushStart();
    w.memory("i32.store", 4, layout.words.stacks);
    if (this.#held !== null) this.#exchange(this.#held, first);
  }

  /** Another chunk's frame makes room for this one's. */
  #exchange(held: number, first: Wasm): void {
    const w = this.#writer;
    const other = wasm.local("i32", held);
    w.value(wasm.op("i32.ne", other, first));
    w.if(() => {
      w.value(wasm.op("i32.ge_s", other, wasm.i32(0)));
      w.if(() => this.#frame.move(this.#placeOf(other), "away"));
      this.#frame.move(this.#placeOf(first), "back");
      w.assign([{ local: held, value: first }]);
    });
  }

  #placeOf(thread: Wasm): Wasm {
    const { layout } = this.#unit;
    const before = wasm.op("i32.mul", thread, wasm.i32(this.#frame.size));
    return wasm.op("i32.add", wasm.op("i32.add", wasm.local("i32", this.#context), wasm.i32(layout.frames)), before);
  }
}
