import type { GuardWord, Site } from "../../machine/state/code.ts";
import type { BasicBlock } from "../../machine/state/launch-state.ts";
import type { Run } from "./expr-compiler.ts";
import type { DecodedFunction } from "./decoded-function.ts";
import type { Operands } from "./operand.ts";
import type { ProgramContext } from "./program-context.ts";
import type { Slot } from "./register-file.ts";

/** One instruction on its way to becoming code. */
export interface Decoding {
  readonly program: ProgramContext;
  readonly code: DecodedFunction;
  readonly site: Site;
  readonly guard: GuardWord;
  readonly operands: Operands;
  /** Where the results of an operation go that is not `pure`, in their order; `finish` brings them to the byte file. */
  readonly results: readonly (Slot | null)[];
  readonly finish: Run | null;
}

/** What a terminator needs to know of the blocks. */
export interface Flow {
  readonly next: BasicBlock;
  readonly index: number;
  /** The block that begins at an instruction. */
  readonly blockAt: (instruction: number) => BasicBlock;
}
