import type { LaunchShape } from "../../abi/launch-shape.ts";
import { CallGraph } from "./call-graph.ts";
import type { CompiledFunctions } from "./callables.ts";
import { LaneStacks } from "./lane-stacks.ts";
import type { ProgramFacts } from "./program-facts.ts";

/** The kernel with this number among a program's functions, and what it calls; small functions become part of their callers. */
export function reachableFrom(number: number, { width }: LaunchShape, program: ProgramFacts) {
  const reached = (callables: CompiledFunctions) => {
    const kernel = callables.list[number]!;
    const graph = new CallGraph(kernel, callables);
    const stacks = new LaneStacks(graph, program.stackLimit);
    return { facts: { ...program, callables }, kernel, graph, stacks };
  };
  if (width !== null) return reached(program.callables.inThreads(width));
  const plain = reached(program.callables);
  // Where the stacks may overflow, it must be at the call at which they do.
  if (plain.stacks.isChecked) return plain;
  const { inlined } = program.callables;
  return inlined === program.callables ? plain : reached(inlined);
}
