import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Instruction } from "../../../ir/index.ts";
import type { Wasm } from "../../../wasm/index.ts";
import type { BranchCondition } from "../analysis/flow/branch-condition.ts";
import type { ConvergedPath } from "./converged-path.ts";
import type { BranchCopies } from "./reconvergence.ts";

/** The copies at the end of a block; `isAll`: where it is known that all lanes go the same way. */
type CopiesOf = (isAll: boolean) => BranchCopies;

/** The end of a block that is being written. */
export interface BlockEnd {
  readonly block: FlowBlock;
  /** How the condition of its branch is tested, where that has been left to the branch. */
  readonly condition: BranchCondition | null;
  readonly copies: CopiesOf;
  /** The code for converged lanes of which the block is a part; null: code for any lanes. */
  readonly path: ConvergedPath | null;
}

export interface Branch extends BlockEnd {
  readonly to: number;
}

/** A branch of converged lanes. */
export interface ConvergedBranch extends Branch {
  readonly path: ConvergedPath;
}

/** Records which lanes exit, for the callers of a function. */
export interface ExitLog {
  noteExits(lanes: readonly Wasm[]): void;
}

/** Writes single instructions. */
export interface InstructionWriter {
  write(block: number, index: number, instruction: Instruction): void;
}
