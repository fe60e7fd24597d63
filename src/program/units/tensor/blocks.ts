import { clusterWindows, type Space, windows } from "../../../ir/index.ts";
import type { Cta } from "../../../machine/state/launch-state.ts";
import type { UnitCall } from "../unit-call.ts";
import { tensorFault } from "./fault.ts";
import { TensorMemory } from "./tensor-memory.ts";

/** A block whose shared and tensor memory an operation uses. */
export interface TensorBlock {
  readonly cta: Cta;
  readonly memory: TensorMemory;
  /** Its number in the pair: which half of the rows of A and D, and of the columns of B, it has. Alone it has all. */
  readonly half: 0 | 1;
  /** Where the lane finds the block's shared memory: the space, and the address of its first byte. */
  readonly space: Space;
  readonly shared: number;
}

export const memoryOf = ({ units }: Cta): TensorMemory => units.of(TensorMemory);

/** The block of the lanes, with its place in a pair or alone. */
const ownBlock = (cta: Cta, half: 0 | 1): TensorBlock => ({
  ...{ cta, memory: memoryOf(cta), half },
  ...{ space: "shared", shared: windows.shared.start },
});

/**
 * The other block of the pair: that of which the rank in the cluster differs by the last bit (section 9.7.16.5.1).
 * Null: it has exited.
 *
 * @throws Fault if the cluster has none
 */
export function peerOf(call: UnitCall): Cta | null {
  const { cta } = call.x.warp;
  const peer = cta.cluster.block(cta.rank ^ 1);
  if (peer === null) {
    const { size } = cta.cluster;
    const message = `the block has no other for a pair: its rank is ${cta.rank}, and the cluster has ${size} ${size === 1 ? "block" : "blocks"}`;
    throw tensorFault(call, "tcgen05-no-peer", message, { help: "launch with clusters of an even number of blocks" });
  }
  return typeof peer === "string" ? null : peer;
}

/** The fault of an operation on a pair of which the other block has exited. */
export const peerHasExited = (call: UnitCall, lane?: number) =>
  tensorFault(
    call,
    "tcgen05-no-peer",
    `the other block of the pair, of rank ${call.x.warp.cta.rank ^ 1}, has exited`,
    {
      help: "it must stay until the operation is complete: let both meet at a barrier of the cluster before they exit",
    },
    lane,
  );

/**
 * The blocks that take part in an operation of a lane: its own, or those of the pair in order.
 *
 * @throws Fault if there is no pair
 */
export function blocksOf(call: UnitCall, pair: boolean, lane?: number): readonly TensorBlock[] {
  const { cta } = call.x.warp;
  if (!pair) return [ownBlock(cta, 0)];
  const peer = peerOf(call);
  if (peer === null) throw peerHasExited(call, lane);
  const halves = [0, 1] as const;
  return halves.map((half) => {
    const rank = (cta.rank & ~1) | half;
    if (rank === cta.rank) return ownBlock(cta, half);
    const { ranks, stride } = clusterWindows;
    return { cta: peer, memory: memoryOf(peer), half, space: "shared-cluster", shared: ranks + rank * stride };
  });
}
