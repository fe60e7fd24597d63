import { fillLanes, lanesWhere, lowestLane } from "../../ir/lane-mask.ts";
import type { Op } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { Reduction } from "../../machine/state/barrier.ts";
import type { BarrierArrival, Group, Terminator } from "../../machine/state/launch-state.ts";
import { countProblem, idProblem } from "../../program/barrier-rules.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import { whereGuardHolds } from "./control.ts";
import { resolveWaits } from "./wait-resolution.ts";

/** A barrier of PTX (section 9.7.13.1): a group waits for its warp, then the warp arrives as one. */
export function makeBarrier(d: Decoding, flow: Flow, op: Extract<Op, { kind: "barrier" }>): Terminator {
  const { site, operands } = d;
  const id = operands.slot(op.id);
  const count = op.count && operands.slot(op.count);
  const vote = op.reduce && operands.slot(op.reduce.a);
  const { prepare } = operands;
  const [to] = d.results;

  const release = (group: Group, reduction: Reduction): void => {
    if (op.reduce !== null && to) {
      const file = group.activation.i32;
      if (op.reduce.op === "popc") fillLanes(file, to.base, group.mask, reduction.popc);
      else if (reduction[op.reduce.op]) file[to.base]! |= group.mask;
      else file[to.base]! &= ~group.mask;
    }
    group.wait = null;
    group.at = flow.next;
  };

  return whereGuardHolds(d, flow, (warp, group, all) => {
    const x = group.activation;
    prepare(x, all);
    const votes = vote === null ? 0 : x.i32[vote.base]! & all;
    // Lanes may name different barriers; those that name the same one arrive together.
    for (let rest = all; rest !== 0; ) {
      const first = lowestLane(rest);
      const barrier = x.i32[id.base + first]! >>> 0;
      const lanes = lanesWhere(rest, (lane) => x.i32[id.base + lane]! >>> 0 === barrier);
      const threads = count === null ? null : x.i32[count.base + first]! >>> 0;
      const problem = idProblem(warp.cta, barrier) ?? countProblem(warp.cta, threads, op.mode);
      if (problem !== null) throw new Fault(...problem, { site, activation: x, lanes });
      rest &= ~lanes;
      const part = rest === 0 ? group : warp.fork(group, lanes, group.at);
      const arrival: BarrierArrival = {
        site,
        mode: op.mode,
        aligned: op.aligned,
        count: threads === 0 ? null : threads,
        votes: votes & lanes,
        release: (reduction) => release(part, reduction),
      };
      part.wait = { kind: "converge", barrier, arrival };
    }
    resolveWaits(warp);
  });
}
