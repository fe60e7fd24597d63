import type { LaunchShape } from "../../abi/launch-shape.ts";
import { CallGraph } from "./call-graph.ts";
import type { CompiledFunction, CompiledFunctions } from "./callables.ts";
import { LaneStacks } from "./lane-stacks.ts";
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
  const reached = (callables: CompiledFunctions): ReachableKernel => {
    const kernel = callables.list[number]!;
    const graph = new CallGraph(kernel, callables);
    const stacks = new LaneStacks(graph, program.stackLimit);
    return { kernel, shape, facts: { ...program, callables }, graph, stacks };
  };
  if (shape.width !== null) return reached(program.callables.inThreads(shape.width));
  const plain = reached(program.callables);
  // Where the stacks may overflow, it must be at the call at which they do.
  if (plain.stacks.isChecked) return plain;
  const { inlined } = program.callables;
  return inlined === program.callables ? plain : reached(inlined);
}
