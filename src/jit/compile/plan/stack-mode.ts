import { maxThreads } from "../../abi/launch-shape.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./callables.ts";
import type { LaneStacks } from "./lane-stacks.ts";

/**
 * What becomes of the kernel's frame when another chunk runs before it has ended. `common`: chunks have the same stacks, and
 * leave nothing there. `own`: each has stacks of its own. `kept`: stacks are too large for that, and the frame is moved away.
 */
export type StackMode = "common" | "own" | "kept";

/** `takesTurns`: chunks wait for each other. Throws Unsupported. */
export function stackModeOf(
  kernel: CompiledFunction,
  stacks: LaneStacks,
  graph: CallGraph,
  takesTurns: boolean,
): StackMode {
  if (!takesTurns || !stacks.isUsed) return "common";
  if (graph.pausesInFunctions) {
    if (graph.functions.some((f) => f.allocates)) throw new Unsupported("alloca, beside pauses in functions");
    if (kernel.code.frame.size > stacks.staging) throw new Unsupported("a large frame, beside pauses in functions");
    return "own";
  }
  if (kernel.allocates) throw new Unsupported("alloca where lanes wait for each other");
  if (stacks.variablesOf(kernel).size === 0) return "common";
  return stacks.isChecked ? "kept" : "own";
}

/** Bytes of the stacks, and of the frames that are moved away from them. */
export function stackBytesOf(mode: StackMode, kernel: CompiledFunction, stacks: LaneStacks, lanes: number) {
  return {
    stackBytes: stacks.stride * (mode === "own" ? maxThreads : lanes),
    frameBytes: mode === "kept" ? kernel.code.frame.size * maxThreads : 0,
  };
}
