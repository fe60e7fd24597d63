import { clusterWindows, type Space, windows } from "../../ir/index.ts";
import { lanesIn } from "../../ir/lane-mask.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import { sharedOwner } from "../../machine/state/cluster.ts";
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
  /** The mbarrier is that of the even or odd block of each pair, as the given one is (`.cta_group::2`). */
  readonly pairs: boolean;
}

/** The numbers of operands. */
interface Operands {
  readonly target: number;
  readonly mbarrier: number;
  readonly mask: number;
}

/** The address that the block of a rank has for what is at `low` in the shared memory of some block. */
const addressIn = (rank: number, low: number): AddressParts => ({
  high: 0,
  low: clusterWindows.ranks + rank * clusterWindows.stride + (low - windows.shared.start),
});

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
  const { cta } = call.x.warp;
  const mask = call.word(operands.mask, lane) & 0xffff;
  const own = sharedOwner(cta, target.low).low;
  const signal = sharedOwner(cta, mbarrier.low);
  return lanesIn(mask).map((rank) => {
    if (rank >= cta.cluster.size) {
      const message = `the mask 0x${mask.toString(16)} names blocks that the cluster does not have: it has ${cta.cluster.size}`;
      throw unitFault(call, lane, "cluster-bad-rank", message);
    }
    const signalled = op.pairs ? (rank & ~1) | (signal.rank & 1) : rank;
    return { target: addressIn(rank, own), mbarrier: addressIn(signalled, signal.low) };
  });
}
