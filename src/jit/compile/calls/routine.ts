import { registersIn } from "../../../ir/module.ts";
import type { Wasm } from "../../../wasm/index.ts";
import { callEntry } from "../../abi/context-layout.ts";
import type { ByteFilePort } from "../emit/byte-file-port.ts";
import type { Chunk } from "../emit/chunk.ts";
import { hostStackSize } from "../emit/host-stack-size.ts";
import { clearBytes } from "../emit/memory-ops.ts";
import type { Frame } from "../memory/frame.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { variableBytes, bytesTaken } from "../plan/activation-size.ts";
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
    const { stacks } = unit;
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
    const bytes = Math.max(hostStackSize(this.#chunk), bytesTaken(this.#compiled, unit));
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
    const { start, end } = variableBytes(this.#compiled);
    clearBytes(writer, this.#file.base, start, end);
  }
}
