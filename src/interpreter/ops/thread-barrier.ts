import { lowestLane } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import type { Op } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { BarrierArrival, Terminator } from "../../machine/state/launch-state.ts";
import { countProblem, idProblem, mismatch } from "../../program/barrier-rules.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import { enter, operandLanes } from "./control.ts";
import { releaseIfComplete } from "./wait-resolution.ts";

/**
 * A barrier among hardware threads (vISA). The thread arrives with the lanes that execute the instruction. It has one
 * instruction pointer, so all of its lanes wait.
 */
export function makeThreadBarrier(d: Decoding, { next }: Flow, op: Extract<Op, { kind: "barrier" }>): Terminator {
  const { site, guard, operands } = d;
  const { mode, aligned } = op;
  const idIn = operands.scalar(op.id);
  const countIn = op.count && operands.scalar(op.count);
  return {
    site,
    guard,
    run: (warp, group) => {
      const x = group.activation;
      const converged = group.mask === warp.live;
      const mask = enter(guard, next, warp, group);
      if (mask === 0) return;
      const deciding = operandLanes(guard, mask);
      const lane = lowestLane(deciding);
      const id = idIn(x, lane) >>> 0;
      const count = countIn === null ? null : countIn(x, lane) >>> 0;
      const { cta } = warp;
      const at = { site, activation: x, lanes: mask };
      const badId = idProblem(cta, id);
      if (badId !== null) throw new Fault(...badId, at);
      const barrier = cta.barriers[id]!;
      const { observers } = cta.grid;
      if (observers !== null)
        emit(observers, "barrier", {
          warp,
          activation: x,
          site,
          mask,
          part: 0,
          barrier: id,
          mode,
          aligned,
          converged,
        });
      const arrives = mode !== "wait";
      if (arrives) {
        const problem = countProblem(cta, count, mode) ?? mismatch(cta, barrier, count);
        if (problem !== null) throw new Fault(...problem, at);
        barrier.arrive(count, mask, 0);
      }
      if (mode === "arrive") barrier.arriveEarly(warp);
      if (mode === "arrive" || (mode === "wait" && barrier.passed(warp))) group.at = next;
      else {
        const release = (): void => {
          group.wait = null;
          group.at = next;
        };
        const arrival: BarrierArrival = { site, mode, aligned, count, votes: 0, release };
        group.wait = { kind: "barrier", barrier: id, arrival };
        barrier.waiters.push({ warp, release });
      }
      if (arrives) releaseIfComplete(cta, barrier);
    },
  };
}
