import type { Instruction } from "../ir/index.ts";
import type { Dim3 } from "../machine/report.ts";
import { type ModuleWriter, wasm } from "../wasm/index.ts";
import { activationBytes } from "./activation-bytes.ts";
import type { Callable } from "./callables.ts";
import type { Chunk } from "./chunk.ts";
import { FileAccess } from "./file-access.ts";
import type { LaunchShape, Unit } from "./unit.ts";

/** The host's function that fills the byte file of a thread which begins: of a context, at a byte of memory. */
export const threadImport = "startThread";

/** The host's function that looks up a surface: for a site of a context, by its index, in some lanes. */
export const surfaceImport = "surface";

export function importThreads(module: ModuleWriter): void {
  module.importFunction(threadImport, ["i32", "i32"], []);
  module.importFunction(surfaceImport, ["i32", "i32", "i32", "i32"], []);
}

/**
 * A hardware thread is a chunk. It has more lanes than the thread where instructions without a mask are for more: these are
 * never active.
 */
export function threadShape(
  instructions: readonly Instruction[],
  [x, y, z]: Dim3,
  width: number,
  shared: boolean,
): LaunchShape {
  const lanes = instructions.reduce(
    (most, { lanes }) => Math.max(most, (lanes?.first ?? 0) + (lanes?.count ?? 0)),
    width,
  );
  const quads = ([1, 2, 4, 8] as const).find((q) => 4 * q >= lanes)!;
  return { quads, rows: true, full: width === 4 * quads && (x * y * z) % width === 0, width, shared };
}

/** The byte files of the hardware threads (vISA) of a group, one behind the other in the context. */
export class ThreadFiles {
  readonly #unit: Unit;
  readonly #chunk: Chunk;
  /** Bytes from one file to the next. */
  readonly #stride: number;
  /** Locals: the context, and the number in its group of the thread's first work item. */
  readonly #at: { readonly context: number; readonly first: number };
  /** The local with the byte of memory at which the thread's file begins. */
  readonly #base: number;
  readonly #access: FileAccess;

  constructor(unit: Unit, chunk: Chunk, kernel: Callable, at: { readonly context: number; readonly first: number }) {
    this.#unit = unit;
    this.#chunk = chunk;
    this.#stride = activationBytes(kernel, unit.quads);
    this.#at = at;
    this.#base = chunk.writer.local("i32");
    this.#access = new FileAccess(chunk, kernel.ir.file!, this.#base);
    chunk.file = this.#access;
  }

  /** Shared local memory, whose size the launch says, begins as zeros in every group. */
  clearSharedMemory(): void {
    const { writer } = this.#chunk;
    const { layout, facts } = this.#unit;
    writer.value(wasm.op("i32.add", wasm.local("i32", this.#at.context), wasm.i32(layout.shared + facts.sharedBytes)));
    writer.i32(0);
    writer.get(this.#at.context);
    writer.memory("i32.load", 4, layout.words.dynamic_smem_size);
    writer.memoryFill();
  }

  /** Turns to the thread of the chunk. */
  find(): void {
    const { layout, shape } = this.#unit;
    const index = wasm.op("i32.div_u", wasm.local("i32", this.#at.first), wasm.i32(shape.width!));
    const offset = wasm.op("i32.mul", index, wasm.i32(this.#stride));
    const files = wasm.op("i32.add", wasm.local("i32", this.#at.context), wasm.i32(layout.files));
    this.#chunk.writer.assign([{ local: this.#base, value: wasm.op("i32.add", files, offset) }]);
  }

  /** The thread begins. */
  start(): void {
    const { writer, analysis } = this.#chunk;
    writer.get(this.#base);
    writer.i32(0);
    writer.i32(this.#stride);
    writer.memoryFill();
    writer.get(this.#at.context);
    writer.get(this.#base);
    writer.call(threadImport);
    const live: number[] = [];
    analysis.code.liveness.liveIn(0).forEach((r) => {
      live.push(r);
    });
    this.#access.loadHomes(live);
  }
}
