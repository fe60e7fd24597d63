import type { Op } from "../ir/index.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";

/** The fault of lanes whose index is beyond a list of labels; `index`: that of the lowest of them. */
export function indexOutOfRange(index: number, labels: number, at: FaultPlace): Fault {
  const message = `the index is ${index >>> 0} (${index | 0}), and the list has ${labels} labels`;
  return new Fault("brx-index-out-of-range", message, at, { help: "an index counts from 0 to one less" });
}

/** The fault of lanes that execute a trap, or an instruction that stands for one. */
export const trapFault = ({ fault }: Extract<Op, { kind: "trap" }>, at: FaultPlace): Fault =>
  new Fault(fault?.code ?? "trap", fault?.message ?? "the kernel executed trap", at);
