import { popcount } from "../ir/lane-mask.ts";
import type { Op } from "../ir/index.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";

/** Makes the fault for lanes whose index lies outside a list of labels. `index` is that of the lowest such lane. */
export function indexOutOfRange(index: number, labels: number, at: FaultPlace): Fault {
  const signed = (index | 0) < 0 ? ` (${index | 0})` : "";
  const message = `the index is ${index >>> 0}${signed}, and the list has ${labels} label${labels === 1 ? "" : "s"}`;
  return new Fault("brx-index-out-of-range", message, at, { help: "an index counts from 0 to one less" });
}

/** Makes the fault for lanes that execute an instruction with `.aligned` without all others of their warp. */
export function notAligned(at: FaultPlace, notes: readonly string[] = []): Fault {
  const message = `only ${popcount(at.lanes)} of the warp's 32 lanes execute an instruction that all must execute together`;
  return new Fault("aligned-divergence", message, at, {
    help: "move it to where all threads of the warp come",
    notes,
  });
}

/**
 * Makes the fault for a warp of an incomplete warpgroup. `warps`: the warps of the block, of which a group has four.
 */
export function notWarpgroup(warps: number, at: FaultPlace): Fault {
  const message = `only ${warps % 4} warps of a warpgroup's 4 exist, as the block has ${warps} warps`;
  const help = "launch blocks of a multiple of 128 threads, or keep the last warps from the instruction";
  return new Fault("aligned-divergence", message, at, { help });
}

/** Makes the fault for lanes that execute a trap, or an instruction that stands for one. */
export const trapFault = ({ fault }: Extract<Op, { kind: "trap" }>, at: FaultPlace): Fault =>
  new Fault(fault?.code ?? "trap", fault?.message ?? "the kernel executed trap", at);
