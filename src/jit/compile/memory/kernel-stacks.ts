import { type FrameImage, windows } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
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
  readonly #kernel: CompiledFunction;

  constructor(
    unit: ModuleUnit,
    writer: FunctionWriter,
    context: number,
    first: number,
    frame: Frame,
    kernel: CompiledFunction,
  ) {
    this.#unit = unit;
    this.#writer = writer;
    this.#context = context;
    this.#first = first;
    this.#frame = frame;
    this.#held = unit.stackMode === "kept" ? writer.local("i32") : null;
    this.#kernel = kernel;
  }

  /** The grid begins. */
  begin(): void {
    const { frameImage } = this.#kernel.ir;
    if (frameImage !== undefined && this.#unit.stacks.isUsed) this.#fill(frameImage);
    if (this.#held !== null) this.#writer.assign([{ local: this.#held, value: wasm.i32(-1) }]);
  }

  /** Begins or resumes a chunk. */
  place(): void {
    const { stacks, stackMode } = this.#unit;
    if (!stacks.isUsed || this.#kernel.ir.frameImage !== undefined) return;
    const first = wasm.local("i32", this.#first);
    this.#placeAt(stackMode === "own" ? first : null);
    if (this.#held !== null) this.#exchange(this.#held, first);
  }

  /** `thread`: the one whose stack the first lane has; null where chunks use the same stacks. */
  #placeAt(thread: Wasm | null): void {
    const { layout, stacks } = this.#unit;
    const w = this.#writer;
    const start = wasm.op("i32.add", wasm.local("i32", this.#context), wasm.i32(layout.stacks));
    w.value(thread === null ? start : wasm.op("i32.add", start, wasm.op("i32.mul", thread, wasm.i32(stacks.stride))));
    this.#frame.place();
    w.get(this.#context);
    this.#frame.pushStart();
    w.memory("i32.store", 4, layout.words.stacks);
  }

  /** Writes what all chunks find in the shared stacks, and leave there. */
  #fill({ bytes: image, parameters }: FrameImage): void {
    this.#placeAt(null);
    const w = this.#writer;
    const { offsets, size } = this.#kernel.code.frame;
    const bytes = new Uint8Array(Math.ceil(size / 16) * 16);
    for (const v of this.#unit.stacks.variablesOf(this.#kernel)) bytes.set(image[v]!, offsets[v]!);
    const view = new DataView(bytes.buffer);
    for (let at = 0; at < bytes.length; at += 16) {
      this.#frame.pushStart();
      w.value(wasm.lanes([0, 4, 8, 12].map((word) => view.getInt32(at + word, true))));
      w.memory("v128.store", 1, at);
    }
    for (const { variable, at, bits, from } of parameters) {
      this.#frame.pushStart();
      w.get(this.#context);
      w.memory(`i${bits}.load`, 1, this.#unit.layout.params + from - windows["kernel-param"].start);
      w.memory(`i${bits}.store`, 1, offsets[variable]! + at);
    }
    this.#frame.spread(bytes.length);
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
