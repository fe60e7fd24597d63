import { withConstantFrame } from "../../../ir/flow/index.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";
import type { Bindings } from "../../../semantics/bind.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import { withParameters } from "../analysis/access/known-parameters.ts";
import { bindingsFor } from "../analysis/values/special-registers.ts";
import { withDecidedBranches } from "../analysis/versions/decided-branches.ts";
import { withKnownRounds } from "../analysis/versions/known-rounds.ts";
import { withInteriorVersion } from "../analysis/versions/interior-version.ts";
import { CallGraph } from "./call-graph.ts";
import type { CompiledFunction, CompiledFunctions } from "./compiled-functions.ts";
import { LaneStacks } from "./lane-stacks.ts";
import { PassedRegisters } from "./passed-registers.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { KernelScope } from "./scope.ts";

/** A kernel among the functions that it reaches. */
interface ReachableKernel extends KernelScope {
  readonly kernel: CompiledFunction;
}

/**
 * The kernel with this number among a program's functions, and all that it can call. Small functions of PTX are
 * inlined, routines of vISA are split into their subroutines.
 *
 * @throws Unsupported when the kernel can reach what is not compiled
 */
export function reachableFrom(number: number, shape: LaunchShape, program: ProgramFacts): ReachableKernel {
  const bindings = bindingsFor(shape, program.bindings);
  const reached = (functions: CompiledFunctions): ReachableKernel => {
    const asFound = functions.list[number]!;
    const ir = withConstantFrame(asFound.ir);
    const found = ir === asFound.ir ? asFound : { ...asFound, ir };
    const kernel = shape.block === null ? found : inVersions(found, shape, shape.block, program.bindings);
    const graph = new CallGraph(kernel, functions);
    const stacks = new LaneStacks(graph, program.stackLimit);
    const passed = new PassedRegisters(graph, shape.width);
    return { kernel, shape, facts: { ...program, bindings, functions }, graph, passed, stacks };
  };
  if (shape.width !== null) return reached(program.functions.inThreads(shape.width));
  const plain = reached(program.functions);
  // Where the stacks may overflow, it must be at the call at which they do.
  if (plain.stacks.isChecked) return plain;
  const { inlined } = program.functions;
  return inlined === program.functions ? plain : reached(inlined);
}

/**
 * A kernel for blocks of one size: with what launches give to some of its parameters, with a version for those in the
 * interior of the grid where that is of use, and with loops that are written round by round.
 */
function inVersions(
  asWritten: CompiledFunction,
  { interior, byRound, given }: LaunchShape,
  block: Dim3,
  all: Bindings,
): CompiledFunction {
  const kernel = given.length === 0 ? asWritten : { ...asWritten, ir: withParameters(asWritten.ir, given) };
  const found = interior ? { ...kernel, ...withInteriorVersion(kernel, block) } : kernel;
  const rounds = byRound ? { ...found, ...withKnownRounds(found, block) } : found;
  return { ...rounds, ...withDecidedBranches(rounds, block, all) };
}
