import { lanesWhere, lowestLane } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import type { Instruction, Op } from "../../ir/index.ts";
import type { GuardWord, Site } from "../../machine/state/code.ts";
import type { BasicBlock, Group, Terminator, Warp } from "../../machine/state/launch-state.ts";
import { indexOutOfRange } from "../../program/instruction-faults.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import { movedLanes } from "../compile/guards.ts";
import type { DecodedFunction } from "../compile/decoded-function.ts";
import { leaveClusterBarrier } from "./cluster-release.ts";
import { resolveWaits } from "./wait-resolution.ts";

type OpOf<K extends Op["kind"]> = Extract<Op, { kind: K }>;

/** Moves lanes whose guard does not hold to the next block, and returns the others, which then are the group. */
export function enter(guard: GuardWord, next: BasicBlock, warp: Warp, group: Group): number {
  const lanes = movedLanes(guard, group.activation, group.mask);
  if (lanes === 0) group.at = next;
  else if (lanes !== group.mask) warp.fork(group, group.mask & ~lanes, next);
  return lanes;
}

/**
 * The lanes in which an instruction that moves `lanes` computes its operands: all of these, or the one that decides.
 */
export const operandLanes = ({ rule }: GuardWord, lanes: number): number =>
  rule === null || rule.decider === null ? lanes : 1 << rule.decider;

/**
 * A terminator that acts for the lanes whose guard holds, if there are any: these are the group then, as the others
 * have gone to the next block. `whole`: the group as it has come.
 */
export const whereGuardHolds = (
  { site, guard }: Decoding,
  { next }: Flow,
  act: (warp: Warp, group: Group, lanes: number, whole: number) => void,
): Terminator => ({
  site,
  guard,
  run: (warp, group) => {
    const whole = group.mask;
    const lanes = enter(guard, next, warp, group);
    if (lanes !== 0) act(warp, group, lanes, whole);
  },
});

/** A block to which lanes jump, and whether they may wait for others in the loop that begins there. */
interface Target {
  readonly block: BasicBlock;
  readonly mayAwait: boolean;
}

const targetAt = ({ blockAt, mayAwaitAt }: Flow, instruction: number): Target => ({
  block: blockAt(instruction),
  mayAwait: mayAwaitAt(instruction),
});

/** Moves a whole group, from a block to another. */
function jump(warp: Warp, group: Group, from: number, { block, mayAwait }: Target, site: Site): void {
  group.at = block;
  if (block.index <= from) warp.jumpBack(group, site, mayAwait);
}

export function makeBranch({ site, guard }: Decoding, flow: Flow, op: OpOf<"branch">): Terminator {
  const { next, index } = flow;
  const target = targetAt(flow, op.target);
  return {
    site,
    guard,
    run: (warp, group) => {
      const { activation, mask } = group;
      const taken = movedLanes(guard, activation, mask);
      const { observers } = warp.cta.grid;
      if (observers !== null)
        emit(observers, "branch", {
          warp,
          activation,
          site,
          mask: taken,
          group: mask,
          target: op.target,
          uniform: op.uniform,
        });
      if (taken === 0) group.at = next;
      else if (taken === mask) jump(warp, group, index, target, site);
      else {
        const other = warp.fork(group, taken, target.block);
        group.at = next;
        jump(warp, other, index, target, site);
      }
    },
  };
}

export function makeIndexedBranch(d: Decoding, flow: Flow, op: OpOf<"branch-indexed">): Terminator {
  const { site, guard, operands } = d;
  const { index: from } = flow;
  const index = operands.slot(op.index);
  const { prepare } = operands;
  const targets = op.targets.map((to) => targetAt(flow, to));
  return whereGuardHolds(d, flow, (warp, group, lanes, whole) => {
    const x = group.activation;
    let rest = lanes;
    const deciding = operandLanes(guard, rest);
    prepare(x, deciding);
    const [decider] = deciding === rest ? [null] : [lowestLane(deciding)];
    const indexOf = (lane: number): number => x.i32[index.base + (decider ?? lane)]! >>> 0;
    const beyond = lanesWhere(rest, (lane) => indexOf(lane) >= targets.length);
    if (beyond !== 0) {
      const first = indexOf(lowestLane(beyond));
      throw indexOutOfRange(first, targets.length, { site, activation: x, lanes: beyond });
    }
    while (rest !== 0) {
      const chosen = indexOf(lowestLane(rest));
      const mask = lanesWhere(rest, (lane) => indexOf(lane) === chosen);
      const target = targets[chosen]!;
      const { observers } = warp.cta.grid;
      if (observers !== null)
        emit(observers, "branch", {
          warp,
          activation: x,
          site,
          mask,
          group: whole,
          target: op.targets[chosen]!,
          uniform: op.uniform,
        });
      rest &= ~mask;
      jump(warp, rest === 0 ? group : warp.fork(group, mask, target.block), from, target, site);
    }
  });
}

export function makeReturn(d: Decoding, flow: Flow, op: OpOf<"return">): Terminator {
  const { site, guard } = d;
  return whereGuardHolds(d, flow, (warp, group, _, whole) => {
    // A scalar return ends the activation: its lanes that wait elsewhere leave too.
    if (guard.rule !== null && guard.rule.decider !== null) warp.gather(group);
    leave(warp, group, group.mask, whole, site, op.uniform);
  });
}

/** `ret` in a function, `exit` in a kernel's own frame (section 9.7.12.6). */
function leave(warp: Warp, group: Group, mask: number, whole: number, site: Site, uniform: boolean): void {
  const { activation } = group;
  const { observers } = warp.cta.grid;
  if (observers !== null) emit(observers, "return", { warp, activation, site, mask, group: whole, uniform });
  if (activation.caller !== null) warp.return(group, mask);
  else end(warp, group, mask, site);
}

function end(warp: Warp, group: Group, mask: number, site: Site): void {
  const { observers } = warp.cta.grid;
  if (observers !== null) emit(observers, "exit", { warp, activation: group.activation, site, mask });
  warp.exit(group, mask);
  leaveClusterBarrier(warp, mask);
  resolveWaits(warp);
}

export const makeExit = (d: Decoding, flow: Flow): Terminator =>
  whereGuardHolds(d, flow, (warp, group, lanes) => end(warp, group, lanes, d.site));

/** The return at the end of a function's instructions. */
export function implicitReturn(code: DecodedFunction, index: number): Terminator {
  const { span } = code.ir;
  const instruction: Instruction = {
    guard: null,
    op: { kind: "return", uniform: false },
    dst: [],
    undefinedCases: [],
    span: { start: Math.max(span.start, span.end - 1), end: span.end },
    location: null,
  };
  const site: Site = { code, index, instruction };
  return {
    site,
    guard: { guard: -1, flip: 0, rule: null },
    run: (warp, group) => leave(warp, group, group.mask, group.mask, site, false),
  };
}

/** Only the schedule sees that a group sleeps. */
export const makeSleep = (d: Decoding, flow: Flow): Terminator =>
  whereGuardHolds(d, flow, (warp, group) => {
    group.at = flow.next;
    warp.giveWay(group);
  });
