import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { Frame } from "./frame.ts";

/**
 * The stacks of the kernel's lanes. Chunks may share one set of stacks, into which each chunk's frame is moved while it
 * runs.
 */
export class KernelStacks {
  readonly #unit: ModuleUnit;
  readonly #writer: FunctionWriter;
  readonly #context: number;
  /** Local: the first thread of the chunk. */
  readonly #first: number;
  readonly #frame: Frame;
  /**
   * Local: the first thread of the chunk whose frame is in the shared stacks, -1 for none. Null unless the stack mode
   * is `kept`.
   */
  readonly #held: number | null;

  constructor(unit: ModuleUnit, writer: FunctionWriter, context: number, first: number, frame: Frame) {
    this.#unit = unit;
    this.#writer = writer;
    this.#context = context;
    this.#first = first;
    this.#frame = frame;
    this.#held = unit.stackMode === "kept" ? writer.local("i32") : null;
  }

  /** Begins a block, before its first chunk. */
  begin(): void {
    if (this.#held !== null) this.#writer.assign([{ local: this.#held, value: wasm.i32(-1) }]);
  }

  /** Begins or resumes a chunk. */
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

  /** Moves another chunk's frame out of the shared stacks, and this chunk's in. */
  #exchange(held: number, first: Wasm): void {
    const w = this.#writer;
    const other = wasm.local("i32", held);
    w.value(wasm.op("i32.ne", other, first));
    w.if(() => {
      w.value(wasm.op("i32.ge_s", other, wasm.i32(0)));
      w.if(() => this.#frame.move(this.#savedFrame(other), "away"));
      this.#frame.move(this.#savedFrame(first), "back");
      w.assign([{ local: held, value: first }]);
    });
  }

  #savedFrame(thread: Wasm): Wasm {
    const { layout } = this.#unit;
    const before = wasm.op("i32.mul", thread, wasm.i32(this.#frame.size));
    return wasm.op("i32.add", wasm.op("i32.add", wasm.local("i32", this.#context), wasm.i32(layout.frames)), before);
  }
}
