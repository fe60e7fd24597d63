import { mismatch } from "../../program/barrier-rules.ts";
import { unionOf } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import { areComplete } from "../../program/warp-results.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { Barrier } from "../../machine/state/barrier.ts";
import { calledAlike } from "../../machine/state/call-frame.ts";
import type { Cta, Group, Warp } from "../../machine/state/launch-state.ts";

/**
 * Lets groups of a warp go on that need not wait any longer, after one of them began to wait or lanes have ended: all
 * lanes of a member mask have come, or all lanes of the warp stand at barriers.
 */
export function resolveWaits(warp: Warp): void {
  if (warp.live === 0) {
    releaseBarriers(warp.cta);
    return;
  }
  completeWarpOps(warp);
  arriveWhenAllWait(warp);
}

/** Releases the barriers that waited only for lanes that have exited. */
function releaseBarriers(cta: Cta): void {
  for (const barrier of cta.barriers) if (barrier.waiters.length > 0) releaseIfComplete(cta, barrier);
}

/** Releases a barrier at which all warps have arrived. */
export function releaseIfComplete(cta: Cta, barrier: Barrier<Warp>): void {
  if (!barrier.complete(cta.expectedWarps)) return;
  const { observers } = cta.grid;
  if (observers !== null) emit(observers, "barrierRelease", { cta, barrier: barrier.id });
  if (barrier.count === null && cta.grid.threads === null) cta.released = true;
  barrier.release();
}

function completeWarpOps(warp: Warp): void {
  for (const group of warp.groups) {
    const { wait } = group;
    if (wait?.kind !== "lanes") continue;
    const { key, named } = wait.arrival;
    const met = warp.groups.filter((g) => g.wait?.kind === "lanes" && g.wait.arrival.key === key);
    if (!areComplete(named, warp.live, unionOf(met))) continue;
    wait.arrival.act(met);
    // The list of groups has changed.
    completeWarpOps(warp);
    return;
  }
}

/** When all lanes of the warp stand at barriers, the warp has arrived. */
function arriveWhenAllWait(warp: Warp): void {
  const groups = warp.groups.filter((g) => g.wait?.kind === "converge");
  if (groups.length === 0 || unionOf(groups) !== warp.live) return;
  const [first] = groups;
  const whole = groups.every((g) => g.at === first!.at && calledAlike(g.activation, first!.activation));
  groups.forEach((group, part) => {
    announce(warp, group, part, whole);
  });
  const ids = new Set(groups.map((g) => (g.wait?.kind === "converge" ? g.wait.barrier : 0)));
  for (const id of ids) {
    arrive(
      warp,
      id,
      groups.filter((g) => g.wait?.kind === "converge" && g.wait.barrier === id),
    );
  }
}

function announce(warp: Warp, group: Group, part: number, converged: boolean): void {
  const { observers } = warp.cta.grid;
  if (observers === null || group.wait?.kind !== "converge") return;
  const { barrier, arrival } = group.wait;
  const { mode, aligned, site } = arrival;
  const { activation, mask } = group;
  emit(observers, "barrier", { warp, activation, site, mask, part, barrier, mode, aligned, converged });
}

function arrive(warp: Warp, id: number, groups: readonly Group[]): void {
  const { cta } = warp;
  const barrier = cta.barriers[id]!;
  let votes = 0;
  let count: number | null = null;
  for (const group of groups) {
    if (group.wait?.kind !== "converge") continue;
    const { arrival } = group.wait;
    votes |= arrival.votes;
    count = arrival.count;
    const problem = mismatch(cta, barrier, count);
    if (problem !== null) {
      throw new Fault(...problem, { site: arrival.site, activation: group.activation, lanes: group.mask });
    }
  }
  barrier.arrive(count, unionOf(groups), votes);
  for (const group of groups) {
    if (group.wait?.kind !== "converge") continue;
    const { arrival } = group.wait;
    if (arrival.mode === "arrive") arrival.release({ popc: 0, and: false, or: false });
    else {
      group.wait = { kind: "barrier", barrier: id, arrival };
      barrier.waiters.push({ warp, release: arrival.release });
    }
  }
  releaseIfComplete(cta, barrier);
}
