import { wasm } from "../../../wasm/index.ts";
import type { ByteFilePort } from "../emit/byte-file-port.ts";
import type { Chunk } from "../emit/chunk.ts";
import { callHost } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { activationBytes } from "../plan/activation-size.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";

/** The byte files of the hardware threads (vISA) of a group, one after the other in the context. */
export class HardwareThreads {
  readonly #unit: ModuleUnit;
  readonly #chunk: Chunk;
  /** Bytes from one file to the next. */
  readonly #stride: number;
  /** Locals: where the context begins, and the thread's first work item, by its number in the group. */
  readonly #at: { readonly context: number; readonly first: number };
  readonly #file: ByteFilePort;

  constructor(
    unit: ModuleUnit,
    chunk: Chunk,
    kernel: CompiledFunction,
    at: { readonly context: number; readonly first: number },
  ) {
    this.#unit = unit;
    this.#chunk = chunk;
    this.#stride = activationBytes(kernel, unit.quads);
    this.#at = at;
    this.#file = chunk.file!;
  }

  /** Finds the byte file of the chunk's thread. */
  find(): void {
    const { layout, shape } = this.#unit;
    const index = wasm.op("i32.div_u", wasm.local("i32", this.#at.first), wasm.i32(shape.width!));
    const offset = wasm.op("i32.mul", index, wasm.i32(this.#stride));
    const files = wasm.op("i32.add", wasm.local("i32", this.#at.context), wasm.i32(layout.files));
    this.#chunk.writer.value(wasm.op("i32.add", files, offset));
    this.#file.place();
  }

  /** The thread begins. */
  start(): void {
    const { writer, analysis } = this.#chunk;
    writer.value(this.#file.base);
    writer.i32(0);
    writer.i32(this.#stride);
    writer.memoryFill();
    writer.get(this.#at.context);
    writer.value(this.#file.base);
    callHost(writer, "startThread");
    const live: number[] = [];
    analysis.code.liveness.liveIn(0).forEach((r) => {
      live.push(r);
    });
    this.#file.loadHomes(live);
  }
}
