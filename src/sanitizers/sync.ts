import { onlyComputes } from "../ir/index.ts";
import { lowestLane, maskText, unionOf } from "../ir/lane-mask.ts";
import type { BarrierEvent, ClusterBarrierEvent, LaneEvent, Observer } from "../machine/events.ts";
import { calledAlike } from "../machine/state/call-frame.ts";
import type { Activation, Wait, Warp } from "../machine/state/launch-state.ts";
import type { Site } from "../machine/state/code.ts";
import { comesAfter } from "./flow.ts";

/** Reports misuse of barriers and of warp-wide operations. */
export const syncSanitizer: Observer = {
  instruction: (e) => {
    const { op } = e.site.instruction;
    if (isAlignedBarrier(e.site) && !e.warp.lockstep) reportGuarded(e);
    else if (!onlyComputes(op)) reportPassed(e);
  },
  barrier: (e) => {
    if (e.warp.lockstep) reportAlone(e);
    if (!e.aligned || e.converged || e.part > 0 || e.warp.lockstep) return;
    divergedFrom(e, e.warp.live & ~e.mask);
  },
  clusterBarrier: reportApart,
  warp: (e) => {
    const outside = e.mask & ~e.named;
    if (outside !== 0) {
      const message = `the member mask ${maskText(e.named)} leaves out lanes that execute the instruction: ${maskText(outside)}`;
      report({ ...e, mask: outside }, "sync-mask-excludes-self", message);
    }
    if (e.sources === null) return;
    let lanes = 0;
    let example = "";
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const source = e.sources[lane]!;
      if (((e.mask >>> source) & 1) !== 0) continue;
      if (lanes === 0) example = `lane ${lane} reads from lane ${source}`;
      lanes |= 1 << lane;
    }
    if (lanes === 0) return;
    const message = `${example}, which does not execute the instruction; lanes ${maskText(e.mask)} do`;
    report({ ...e, mask: lanes }, "shfl-inactive-source", message);
  },
};

const diverged = (e: LaneEvent, others: string): void =>
  report(
    e,
    "barrier-divergence",
    `an aligned barrier is executed by lanes ${maskText(e.mask)}, and ${others}`,
    "move the barrier out of the divergent code, or use one without .aligned",
  );

const divergedFrom = (e: LaneEvent, others: number): void =>
  diverged(e, `other lanes of the warp (${maskText(others)}) have come to another barrier instruction`);

/** vISA: a barrier applies to the whole thread, and must not be in divergent control flow. */
function reportAlone(e: BarrierEvent): void {
  if (e.converged || e.mode === "wait") return;
  const message = `a barrier is executed by lanes ${maskText(e.mask)}, and lanes ${maskText(e.warp.live & ~e.mask)} of the thread are elsewhere`;
  report(e, "barrier-divergence", message, "move the barrier out of the divergent code");
}

/** Reports an aligned barrier whose guard holds in only some of the lanes that reach it. */
function reportGuarded(e: LaneEvent): void {
  const group = e.warp.groups.find((g) => g.wait === null && g.activation === e.activation && (g.mask & e.mask) !== 0);
  const others = group ? group.mask & ~e.mask : 0;
  if (others !== 0) diverged(e, `the guard keeps lanes ${maskText(others)} from it`);
}

/** What has been reported: arrivals at barriers that other lanes pass. */
const passed = new WeakSet<object>();

/**
 * Reports lanes that have gone past an aligned barrier at which other lanes of their warp still wait: they do something
 * in code that comes after the barrier and from which no path leads back to it. Lanes that only end are fine: the
 * barriers of a block and of a cluster do not wait for threads that have exited.
 */
function reportPassed(e: LaneEvent): void {
  for (const group of e.warp.groups) {
    const { wait, mask } = group;
    if (!waitsForItsWarp(wait) || !isAlignedBarrier(wait.arrival.site) || passed.has(wait.arrival)) continue;
    const at = positionIn(group.activation, wait.arrival.site, e.activation);
    if (at === null || !comesAfter(e.activation.code.ir, at, e.site.index)) continue;
    passed.add(wait.arrival);
    const waiting = { warp: e.warp, activation: group.activation, site: wait.arrival.site, mask };
    diverged(waiting, `lanes ${maskText(e.mask)} of the warp have gone past it`);
  }
}

/** Whether lanes wait where the others of their warp cannot have waited already. */
const waitsForItsWarp = (wait: Wait | null): wait is Extract<Wait, { kind: "converge" | "cluster" }> =>
  wait?.kind === "converge" || wait?.kind === "cluster";

function isAlignedBarrier({ instruction: { op } }: Site): boolean {
  return (op.kind === "barrier" || op.kind === "cluster-barrier") && op.aligned;
}

/** Where lanes of a warp have arrived at the barrier of their cluster, or have waited there, in the present phase. */
interface ClusterPart {
  readonly event: ClusterBarrierEvent;
  /** The call that the activation was then. */
  readonly serial: number;
  /** All lanes that have come there. */
  mask: number;
}

type ClusterParts = Record<ClusterBarrierEvent["mode"], ClusterPart[]>;

const clusterParts = new WeakMap<Warp, ClusterParts>();

/**
 * Reports aligned barriers of the cluster if lanes of the warp have come to another instruction in this phase. They
 * need not come to the same one at the same time: which lanes run first where ways meet is the schedule's choice.
 */
function reportApart(e: ClusterBarrierEvent): void {
  let ofWarp = clusterParts.get(e.warp);
  if (ofWarp === undefined) clusterParts.set(e.warp, (ofWarp = { arrive: [], wait: [] }));
  const begins = ofWarp[e.mode].some(({ mask }) => (mask & e.mask) !== 0);
  const parts = begins ? [] : ofWarp[e.mode].filter(({ event, serial }) => event.activation.serial === serial);
  ofWarp[e.mode] = parts;
  const same = parts.find(({ event }) => event.site === e.site && calledAlike(event.activation, e.activation));
  if (same !== undefined) same.mask |= e.mask;
  else parts.push({ event: e, serial: e.activation.serial, mask: e.mask });
  if (parts.length === 1) return;
  const [first] = parts;
  if (same === undefined && parts.length === 2) cameToAnother({ ...first!.event, mask: first!.mask }, parts);
  cameToAnother(e, parts);
}

function cameToAnother(e: ClusterBarrierEvent, parts: readonly ClusterPart[]): void {
  if (e.aligned) divergedFrom(e, unionOf(parts) & ~e.mask);
}

/**
 * The instruction of `outer` at which a group is that stands at `site` in `inner`: `site` itself, or the call that led
 * there.
 */
function positionIn(inner: Activation, site: Site, outer: Activation): number | null {
  if (inner === outer) return site.index;
  for (let x = inner; x.caller !== null; x = x.caller) if (x.caller === outer) return x.callSite?.index ?? null;
  return null;
}

function report(e: LaneEvent, code: string, message: string, help?: string): void {
  const { warp, site, activation, mask } = e;
  warp.cta.grid.reports.add({ code, severity: "error", message, help, site, activation, lanes: mask });
}
