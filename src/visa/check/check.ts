import type { Diagnostic } from "../../source/index.ts";
import type { BoundRoutine } from "../symbols.ts";
import type { VisaFile } from "../tree.ts";
import { checkAttributes } from "./attributes.ts";
import { type BindOptions, bindRoutines } from "./bind.ts";
import { checkSizes } from "./call-sizes.ts";
import { checkTargets, controlFlow } from "./control-flow.ts";
import { checkDeclarations, checkInputs } from "./declarations.ts";
import { checkInstructions } from "./instructions.ts";
import { checkRecursion } from "./recursion.ts";
import { checkReturns } from "./returns.ts";
import { RoutineContext } from "./routine-context.ts";

export type CheckVisaOptions = BindOptions;

/** A file whose names have been bound and whose routines have been checked. Only one without errors may be lowered. */
export interface CheckedVisa {
  readonly routines: readonly BoundRoutine[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks every routine of a file by itself; the rules between routines are `linkVisa`'s. Never throws. */
export function checkVisa(tree: VisaFile, options: CheckVisaOptions = {}): CheckedVisa {
  const contexts = bindRoutines(tree, options).map((binding) => new RoutineContext(binding));
  for (const context of contexts) {
    checkDeclarations(context);
    checkInputs(context);
    checkAttributes(context);
    checkInstructions(context);
    checkSizes(context);
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
