import { fileLeavesOf } from "../../../ir/flow/accesses.ts";
import { type IrFunction, type Param, variablesAt } from "../../../ir/index.ts";
import { byteOf } from "../../../ir/region.ts";
import type { Wasm } from "../../../wasm/index.ts";
import { callEntry } from "../../abi/context-layout.ts";
import type { ByteFilePort, Chunk } from "../emit/chunk.ts";
import { hostStackSize } from "../emit/host-stack-size.ts";
import { clearBytes } from "../emit/memory-ops.ts";
import type { Frame } from "../memory/frame.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { activationBytes, bytesInCaller } from "../plan/activation-size.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import { entryParam } from "../plan/calling-convention.ts";
import { SharedRegisters } from "./shared-registers.ts";

/** The byte file of a vISA routine that has been called; a subroutine uses that of its routine. */
export class Routine {
  readonly #chunk: Chunk;
  readonly #compiled: CompiledFunction;
  readonly #file: ByteFilePort;
  readonly #registers: SharedRegisters;

  constructor(chunk: Chunk, compiled: CompiledFunction) {
    this.#chunk = chunk;
    this.#compiled = compiled;
    this.#file = chunk.file!;
    this.#registers = new SharedRegisters(chunk, compiled);
  }

  /** Enters the activation, if the host's stack has room for it. */
  enter(frame: Frame, unit: ModuleUnit): void {
    const { writer } = this.#chunk;
    const { stacks, quads } = unit;
    const own = (): void => {
      writer.get(entryParam);
      writer.memory("i32.load", 4, callEntry.top);
    };
    own();
    this.#file.place();
    if (unit.passed.isInPlace(this.#compiled)) {
      writer.get(entryParam);
      writer.memory("i32.load", 4, callEntry.passed);
      this.#file.placePassed();
    }
    // The space for byte files is as large as the host's stack.
    const bytes = Math.max(
      hostStackSize(this.#chunk),
      activationBytes(this.#compiled, quads) - bytesInCaller(this.#compiled, unit),
    );
    if (stacks.isChecked) frame.enterHost(entryParam, bytes);
  }

  /** The activation begins. */
  begin(): void {
    if (this.#isSubroutine) this.#registers.load(registersIn(this.#compiled.ir.params));
    else this.#clear();
  }

  /**
   * The activation ends. A subroutine leaves the registers that it returns to its routine, in the lanes that called it.
   */
  leave(called: readonly Wasm[]): void {
    if (this.#isSubroutine) this.#registers.storeFor(registersIn(this.#compiled.ir.returns), called);
  }

  get #isSubroutine(): boolean {
    return this.#compiled.part?.number !== null;
  }

  /** Clears the variables, which begin as zeros; those in registers are zero anyway. */
  #clear(): void {
    const { writer } = this.#chunk;
    const { start, end } = variablesIn(this.#compiled.ir, this.#compiled.part?.isShared === true);
    clearBytes(writer, this.#file.base, start, end);
  }
}

const registersIn = (list: readonly Param[]): readonly number[] =>
  list.flatMap(({ storage }) => (storage.kind === "register" ? storage.registers : []));

/** The bytes of a routine's file that its variables may occupy. `isShared`: subroutines have variables there, too. */
function variablesIn(
  { file, instructions }: IrFunction,
  isShared: boolean,
): { readonly start: number; readonly end: number } {
  const first = variablesAt(file!.grfBytes);
  const all = { start: first, end: file!.bytes };
  if (isShared) return all;
  let [start, end] = [file!.bytes, first];
  for (const instruction of instructions) {
    const places = [
      ...fileLeavesOf(instruction),
      ...instruction.dst.filter((to) => to !== null && typeof to === "object"),
    ];
    for (const place of places) {
      if (place.kind === "indirect") return all;
      const { first: lane, count } = instruction.lanes ?? { first: 0, count: 32 };
      for (let l = lane; l < lane + count; l++) {
        const at = byteOf(place.region, place.bits, l);
        if (at < first) continue;
        start = Math.min(start, at);
        end = Math.max(end, Math.min(file!.bytes, at + place.bits / 8));
      }
    }
  }
  return { start, end };
}
