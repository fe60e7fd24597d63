import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { widenMask } from "../lanes/value.ts";
import { sharedRegisterAt } from "../plan/activation-size.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";

/**
 * Registers that a routine and its subroutines share: they are stored after the byte file around every call between
 * them.
 */
export class SharedRegisters {
  readonly #chunk: Chunk;
  readonly #compiled: CompiledFunction;

  constructor(chunk: Chunk, compiled: CompiledFunction) {
    this.#chunk = chunk;
    this.#compiled = compiled;
  }

  store(registers: readonly number[]): void {
    for (const { local, at } of this.#vectors(registers)) this.#store(at, wasm.local("v128", local));
  }

  load(registers: readonly number[]): void {
    for (const { local, at } of this.#vectors(registers)) {
      this.#load(at);
      this.#chunk.writer.set(local);
    }
  }

  /**
   * Stores registers of which only the lanes of a mask have been written: in the other lanes memory keeps its values.
   */
  storeFor(registers: readonly number[], lanes: readonly Wasm[]): void {
    const { acrossLanes } = this.#chunk.analysis.code.liveness;
    for (const { register, local, at, part, isWide } of this.#vectors(registers)) {
      const value = wasm.local("v128", local);
      if (acrossLanes.has(register)) {
        this.#store(at, value);
        continue;
      }
      const { writer } = this.#chunk;
      const old = writer.local("v128");
      this.#load(at);
      writer.set(old);
      const mask = isWide ? widenMask(lanes[part >> 1]!)[part & 1]! : lanes[part]!;
      this.#store(at, wasm.blend(mask, value, wasm.local("v128", old)));
      writer.release(old);
    }
  }

  /** The vectors that registers consist of, and their offsets in the file. */
  #vectors(registers: readonly number[]) {
    const { quads } = this.#chunk;
    return registers.flatMap((register) => {
      const locals = this.#chunk.locals(register);
      const start = sharedRegisterAt(this.#compiled, register, quads);
      const isWide = locals.length > quads;
      return locals.map((local, part) => ({ register, local, at: start + 16 * part, part, isWide }));
    });
  }

  #store(at: number, value: Wasm): void {
    const { writer, file } = this.#chunk;
    writer.value(file!.base);
    writer.value(value);
    writer.memory("v128.store", 16, at);
  }

  #load(at: number): void {
    const { writer, file } = this.#chunk;
    writer.value(file!.base);
    writer.memory("v128.load", 16, at);
  }
}
