import type { Diagnostic } from "../../source/index.ts";
import type { BoundRoutine } from "../symbols.ts";
import type { VisaFile } from "../tree.ts";
import { checkAttributes } from "./attributes.ts";
import { type BindOptions, bindRoutines } from "./bind.ts";
import { checkCallSizes } from "./call-sizes.ts";
import { checkTargets, controlFlow } from "./control-flow.ts";
import { checkDeclarations, checkInputs } from "./declarations.ts";
import { checkInstructions } from "./instructions.ts";
import { checkRecursion } from "./recursion.ts";
import { checkReturns } from "./returns.ts";
import { RoutineContext } from "./routine-context.ts";

/** Options of `checkVisa`. */
export type CheckVisaOptions = BindOptions;

/**
 * A file whose names have been bound and whose routines have been checked. Only a file without errors may be lowered.
 */
export interface CheckedVisa {
  /** The file's routines, in the order of the text. */
  readonly routines: readonly BoundRoutine[];
  /** The diagnostics of all routines, in order. Their codes are in `visaCheckCodes`. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Binds the names of a file and checks each of its routines: declarations, inputs, attributes, instructions and their
 * operands, jumps and returns. `linkVisa` has the rules between routines. Never throws.
 */
export function checkVisa(tree: VisaFile, options: CheckVisaOptions = {}): CheckedVisa {
  const contexts = bindRoutines(tree, options).map((binding) => new RoutineContext(binding));
  for (const context of contexts) {
    checkDeclarations(context);
    checkInputs(context);
    checkAttributes(context);
    checkInstructions(context);
    checkCallSizes(context);
    const flow = controlFlow(context.routine);
    checkTargets(context, flow);
    checkReturns(context, flow);
    checkRecursion(context, flow);
  }
  return {
    routines: contexts.map(({ routine }) => routine),
    diagnostics: contexts.flatMap(({ routine }) => routine.diagnostics),
  };
}
