import type { Space } from "../../ir/index.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import { unitFault } from "./lanes.ts";
import type { UnitCall } from "./unit-call.ts";

/** Where an asynchronous operation writes, and the mbarrier that counts it. */
export interface AsyncDestination {
  readonly target: AddressParts;
  /** The address of the mbarrier; null for operations that bulk groups count. */
  readonly mbarrier: AddressParts | null;
}

interface Completion {
  readonly to: Space;
  readonly completion: "mbarrier" | "group";
  readonly multicast: boolean;
}

/** The numbers of operands. */
interface Operands {
  readonly target: number;
  readonly mbarrier: number;
  readonly mask: number;
}

/**
 * The destinations of an operation by a lane: one, or with `multicast` one in each block that the mask names.
 *
 * @throws Fault if the cluster lacks a block
 */
export function destinations(op: Completion, call: UnitCall, lane: number, operands: Operands): AsyncDestination[] {
  const target = call.address(operands.target, lane);
  if (op.completion === "group") return [{ target, mbarrier: null }];
  const mbarrier = call.address(operands.mbarrier, lane);
  if (!op.multicast) return [{ target, mbarrier }];
  const mask = call.word(operands.mask, lane) & 0xffff;
  // A block is a cluster of its own.
  if ((mask & ~1) !== 0) {
    const message = `the mask 0x${mask.toString(16)} names blocks that the cluster does not have: it has 1`;
    throw unitFault(call, lane, "cluster-bad-rank", message);
  }
  return mask === 0 ? [] : [{ target, mbarrier }];
}
