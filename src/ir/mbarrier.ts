import type { Op } from "./instruction.ts";

/**
 * The bits of an mbarrier, whose 64 bits in shared memory the manual leaves to the machine. From the lowest bit on: the
 * arrivals that are pending in the current phase (20 bits); those that each phase expects (20); the transactions that
 * are pending, plus 2^20 (21); the parity of the current phase (1); and a mark (2), which is 2 where an mbarrier is.
 */
export const mbarrierBits = { pending: 0, expected: 20, transactions: 40, parity: 61, mark: 62 } as const;

/** Whether an operation tells if a phase of an mbarrier is complete, for which threads wait. */
export const awaitsPhase = (op: Op): boolean =>
  op.kind === "atomic" && op.problem !== undefined && op.results?.[0]?.ty === "pred";

/** Whether an operation makes an mbarrier. That is a weak access: all uses must be ordered with it. */
export const makesMbarrier = (op: Op): boolean =>
  op.kind === "atomic" && op.problem !== undefined && op.access.order === "weak";
