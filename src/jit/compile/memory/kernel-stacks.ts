import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { Frame } from "./frame.ts";

/** The stacks of the kernel's lanes, chunk by chunk. */
export class KernelStacks {
  readonly #unit: ModuleUnit;
  readonly #writer: FunctionWriter;
  readonly #context: number;
  /** The local with the first thread of the chunk. */
  readonly #first: number;
  readonly #frame: Frame;
  /** The first thread of the chunk whose frame is in the stacks, which several have in common; -1: none. */
  readonly #held: number | null;

  constructor(unit: ModuleUnit, writer: FunctionWriter, context: number, first: number, frame: Frame) {
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
