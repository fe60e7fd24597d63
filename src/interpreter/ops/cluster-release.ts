import { emit } from "../../machine/events.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";

/** Lanes of a warp have exited, for which their cluster no longer waits. */
export function leaveClusterBarrier(warp: Warp, lanes: number): void {
  const { cta } = warp;
  if (cta.cluster.barrier.exit(warp, lanes)) completeClusterBarrier(cta);
  if (warp.live === 0 && cta.liveWarps === 0) cta.cluster.leave(cta);
}

/** All threads of a block's cluster have arrived: the next phase begins. */
export function completeClusterBarrier({ cluster, grid: { observers } }: Cta): void {
  if (observers !== null) emit(observers, "clusterRelease", { cluster });
  cluster.barrier.complete();
}
