import type { ThreadId } from "../../machine/reports/report.ts";
import type { AccessKind } from "./access-kind.ts";

/** Suggests a correct alternative to two accesses that race. */
export function adviceFor(
  earlier: AccessKind,
  later: AccessKind,
  sameWarp: boolean,
  sameBlock: boolean,
  isVisa: boolean,
): string {
  if (earlier.strong && later.strong) {
    return earlier.access.bits === later.access.bits
      ? "give both a scope that includes the other's thread: .gpu, or .sys"
      : "access the place in the same size on both sides: strong operations of different sizes race";
  }
  if (isVisa) return sameBlock ? "put a barrier between them" : "use atomic operations, or two launches";
  const order = sameWarp
    ? "put a bar.sync between them, or a bar.warp.sync if only lanes of one warp meet there; shuffles and votes order no memory"
    : sameBlock
      ? "put a bar.sync between them"
      : "let the first publish a flag with st.release.gpu and the second wait for it with ld.acquire.gpu, or use two launches";
  const changes = [earlier, later].every(({ effect }) => effect === "store" || effect === "atomic");
  return changes && !earlier.strong && !later.strong
    ? `${order}; if both may come in any order, use atom or red`
    : order;
}

/** What makes an mbarrier usable for other blocks of the cluster. */
export const afterInit =
  "after mbarrier.init: fence.mbarrier_init.release.cluster and barrier.cluster.arrive.relaxed, or barrier.cluster.arrive alone; before the use: barrier.cluster.wait";

export const sameBlock = (a: ThreadId, b: ThreadId): boolean => a.block.every((n, i) => n === b.block[i]);
