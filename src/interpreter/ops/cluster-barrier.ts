import type { OpOf } from "../../ir/index.ts";
import { emit } from "../../machine/events.ts";
import type { BasicBlock, Group, Terminator } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import { arrivedTwice, notArrived } from "../../program/cluster-rules.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { completeClusterBarrier } from "./cluster-release.ts";
import { whereGuardHolds } from "./control.ts";

/** Threads arrive at the barrier of their cluster (section 9.7.13.3). */
export function makeClusterArrive({ site }: Decoding, { order, aligned }: OpOf<"cluster-barrier">): Run {
  return (x, lanes) => {
    const { warp } = x;
    const { cluster, grid } = warp.cta;
    const owing = cluster.barrier.owing(warp, lanes);
    if (owing !== 0) throw arrivedTwice({ site, activation: x, lanes: owing });
    const { observers } = grid;
    if (observers !== null) {
      emit(observers, "clusterBarrier", { warp, activation: x, site, mask: lanes, mode: "arrive", order, aligned });
    }
    if (cluster.barrier.arrive(warp, lanes)) completeClusterBarrier(warp.cta);
  };
}

/** Threads wait for all of their cluster: those whose phase is complete go on. */
export const makeClusterWait = (d: Decoding, flow: Flow, { aligned }: OpOf<"cluster-barrier">): Terminator =>
  whereGuardHolds(d, flow, (warp, group, lanes) => {
    const { site } = d;
    const { activation } = group;
    const { barrier } = warp.cta.cluster;
    const absent = lanes & ~barrier.owing(warp, lanes);
    if (absent !== 0) throw notArrived({ site, activation, lanes: absent });
    const pending = barrier.pending(warp, lanes);
    const waiting = pending === 0 || pending === lanes ? group : warp.fork(group, pending, group.at);
    if (pending !== lanes) pass(group, site, aligned, flow.next);
    if (pending === 0) return;
    waiting.wait = { kind: "cluster", arrival: { site } };
    barrier.wait(() => {
      waiting.wait = null;
      pass(waiting, site, aligned, flow.next);
    });
  });

/** The lanes of a group go on. */
function pass(group: Group, site: Site, aligned: boolean, next: BasicBlock): void {
  const { activation, mask } = group;
  const { warp } = activation;
  const { cluster, grid } = warp.cta;
  cluster.barrier.pass(warp, mask);
  group.at = next;
  if (grid.observers === null) return;
  const order = "acquire";
  emit(grid.observers, "clusterBarrier", { warp, activation, site, mask, mode: "wait", order, aligned });
}
