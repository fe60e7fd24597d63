import type { GuardWord, Site } from "../../machine/state/code.ts";
import type { BasicBlock } from "../../machine/state/launch-state.ts";
import type { Run } from "./expr-compiler.ts";
import type { DecodedFunction } from "./decoded-function.ts";
import type { Operands } from "./operand.ts";
import type { ProgramContext } from "./program-context.ts";
import type { Slot } from "./register-file.ts";

/** One instruction while it is decoded. */
export interface Decoding {
  readonly program: ProgramContext;
  readonly code: DecodedFunction;
  readonly site: Site;
  readonly guard: GuardWord;
  readonly operands: Operands;
  /**
   * The registers of an operation's results, in their order, unless it is `pure`; `finish` copies them to the byte
   * file.
   */
  readonly results: readonly (Slot | null)[];
  readonly finish: Run | null;
}

/** The blocks around a terminator. */
export interface Flow {
  readonly next: BasicBlock;
  readonly index: number;
  /** The block that begins at an instruction. */
  readonly blockAt: (instruction: number) => BasicBlock;
  /** Whether lanes that jump back to an instruction may do so since they wait for others. */
  readonly mayAwaitAt: (instruction: number) => boolean;
}
