import { maxThreads } from "../../abi/launch-shape.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import type { LaneStacks } from "./lane-stacks.ts";

/**
 * What happens to the kernel's frame when another chunk runs before it has ended. `common`: chunks use the same stacks,
 * and leave nothing there. `own`: each chunk has its own stacks. `kept`: stacks are too large for that, and the frame
 * is copied away and back.
 */
export type StackMode = "common" | "own" | "kept";

/**
 * Chooses the mode. `takesTurns`: whether chunks wait for each other.
 *
 * @throws Unsupported where a kernel would need more than the modes can do
 */
export function stackModeOf(
  kernel: CompiledFunction,
  stacks: LaneStacks,
  graph: CallGraph,
  takesTurns: boolean,
): StackMode {
  if (!takesTurns || !stacks.isUsed || kernel.ir.frameImage !== undefined) return "common";
  if (graph.suspendsInFunctions) {
    if (graph.functions.some((f) => f.allocates)) throw new Unsupported("alloca, beside pauses in functions");
    if (kernel.code.frame.size > stacks.staging) throw new Unsupported("a large frame, beside pauses in functions");
    return "own";
  }
  if (kernel.allocates) throw new Unsupported("alloca where lanes wait for each other");
  if (stacks.variablesOf(kernel).size === 0) return "common";
  return stacks.isChecked ? "kept" : "own";
}

/** Bytes of the stacks, and of the frames that are copied away from them. */
export function stackBytesOf(mode: StackMode, kernel: CompiledFunction, stacks: LaneStacks, lanes: number) {
  return {
    stackBytes: stacks.stride * (mode === "own" ? maxThreads : lanes),
    frameBytes: mode === "kept" ? kernel.code.frame.size * maxThreads : 0,
  };
}
