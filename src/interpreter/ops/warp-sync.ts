import { lanesWhere, lowestLane, unionOf } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import type { Op } from "../../ir/index.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Group, Terminator, Warp, WarpArrival } from "../../machine/state/launch-state.ts";
import { areComplete } from "../../program/warp-results.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import { whereGuardHolds } from "./control.ts";
import { resolveWaits } from "./wait-resolution.ts";
import { decodeWarpOp, type Part, type WarpCode } from "./warp-ops.ts";

/** A group that waits, with the code that it waits to run. */
class Arrival implements WarpArrival {
  readonly site: Site;
  readonly key: string;
  readonly named: number;
  readonly code: WarpCode;
  readonly act: (groups: readonly Group[]) => void;

  constructor(site: Site, code: WarpCode, named: number, act: (groups: readonly Group[]) => void) {
    this.site = site;
    this.key = `${code.kind} ${named}`;
    this.named = named;
    this.code = code;
    this.act = act;
  }
}

/**
 * A warp-wide operation that waits for the lanes of a member mask, except those that have exited. Lanes at different
 * places execute it together if operation, qualifiers and mask are the same.
 */
export function makeWarpSync(d: Decoding, flow: Flow, op: Extract<Op, { kind: "warp" }>): Terminator {
  const { site, operands } = d;
  const named = operands.slot(op.mask!);
  const code = decodeWarpOp(d, op.warp);

  const act = (warp: Warp, groups: readonly Group[], mask: number): void => {
    const parts: Part[] = groups.map((g) => ({
      x: g.activation,
      mask: g.mask,
      code: g.wait?.kind === "lanes" && g.wait.arrival instanceof Arrival ? g.wait.arrival.code : code,
    }));
    const sources = code.act(parts, mask);
    const { observers } = warp.cta.grid;
    if (observers !== null) {
      const together = unionOf(groups);
      const { activation } = groups[0]!;
      const parts = groups.map((g) => ({
        activation: g.activation,
        site: g.wait?.kind === "lanes" ? g.wait.arrival.site : site,
        mask: g.mask,
      }));
      emit(observers, "warp", { warp, activation, site, mask: together, named: mask, parts, sources });
    }
  };
  const release = (group: Group): void => {
    group.at = group.at.next!;
    group.wait = null;
  };

  return whereGuardHolds(d, flow, (warp, group, all) => {
    const x = group.activation;
    code.prepare(x, all);
    for (let rest = all; rest !== 0; ) {
      const mask = x.i32[named.base + lowestLane(rest)]!;
      const lanes = lanesWhere(rest, (lane) => x.i32[named.base + lane] === mask);
      rest &= ~lanes;
      if (lanes === all && areComplete(mask, warp.live, lanes)) {
        act(warp, [group], mask);
        group.at = flow.next;
        return;
      }
      const part = rest === 0 ? group : warp.fork(group, lanes, group.at);
      const arrival = new Arrival(site, code, mask, (groups) => {
        act(warp, groups, mask);
        groups.forEach(release);
      });
      part.wait = { kind: "lanes", arrival };
    }
    resolveWaits(warp);
  });
}
