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
