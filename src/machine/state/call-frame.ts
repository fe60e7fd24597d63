import type { ProgramFunction } from "./code.ts";
import type { CallFrame, Warp } from "./launch-state.ts";

/** The frame of a kernel without registers, for messages and to find variables. */
export const kernelFrame = (code: ProgramFunction, warp: Warp): CallFrame => ({
  code,
  warp,
  caller: null,
  callSite: null,
  depth: 0,
  base: 0,
  unsizedBytes: 0,
  top: code.frame.size,
  cost: code.stackCost,
  pointers: null,
  pieces: null,
});

/** Whether two frames are of the same calls: their callers, and those around them, stand at the same instructions. */
export function calledAlike(a: CallFrame, b: CallFrame): boolean {
  let [x, y]: [CallFrame | null, CallFrame | null] = [a, b];
  while (x !== y) {
    if (x === null || y === null || x.code !== y.code || x.callSite !== y.callSite) return false;
    [x, y] = [x.caller, y.caller];
  }
  return true;
}
