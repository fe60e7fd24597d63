import type { FileTarget, Instruction } from "../../../ir/index.ts";
import type { Wasm } from "../../../wasm/index.ts";
import type { Mask } from "../lanes/mask.ts";
import type { Value } from "../lanes/value.ts";

/** A chunk's view of the byte file of its routine (vISA). */
export interface ByteFilePort {
  /** The byte of memory where the file begins. */
  readonly base: Wasm;
  /** The byte of memory where the file begins in which the registers lie that calls pass. */
  readonly passed: Wasm;
  /** Takes the byte of memory where the file begins from the stack. */
  place(): void;
  /** Takes from the stack where the file begins in which the registers lie that calls pass, if that is another one. */
  placePassed(): void;
  /** Gives the registers that stand for parts of the file their first values. */
  loadHomes(registers: Iterable<number>): void;
  /** Loads what an instruction reads into locals, which are valid until `finish`. */
  read(instruction: Instruction): void;
  finish(): void;
  /** A copy of a value in locals of its own, to be stored after other results have been written. */
  kept(value: Value): Value;
  /** Stores a value in the lanes of a mask. */
  store(target: FileTarget, value: Value, mask: Mask): void;
}
