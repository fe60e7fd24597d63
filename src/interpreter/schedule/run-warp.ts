import { popcount } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import type {
  Activation,
  BasicBlock,
  EventSink,
  Grid,
  Group,
  Step,
  Terminator,
  Warp,
} from "../../machine/state/launch-state.ts";
import type { LaneAddresses } from "../../machine/state/code.ts";
import { guardedLanes, lanesOf, moveDeciders, movedLanes } from "../compile/guards.ts";

/**
 * Runs a warp until all of its groups wait or have ended, until one gives way, or for this many blocks. False when
 * there was nothing to run.
 */
export function runWarp(warp: Warp, grid: Grid, blocks: number): boolean {
  let group = beginTurn(warp);
  if (group === null) return false;
  for (let left = blocks; group !== null && left > 0; left--) group = runBlock(warp, group, grid);
  return true;
}

/** The group that runs first in a turn of the warp. */
export function beginTurn(warp: Warp): Group | null {
  warp.yielded = false;
  warp.passesTurn = false;
  warp.cta.released = false;
  return pick(warp);
}

/** Runs the block at which the group stands: the group that runs next in this turn, or null. */
export function runBlock(warp: Warp, group: Group, grid: Grid): Group | null {
  const block = group.at;
  countSteps(grid, group);
  if (grid.observers !== null) runObserved(block, group, grid.observers);
  else if (warp.lockstep) runChannels(block, group);
  else runSteps(block, group);
  return endBlock(warp, group);
}

/** A block's instructions are counted when it begins. */
export function countSteps(grid: Grid, { at, mask }: Group): void {
  grid.steps += at.size * popcount(mask);
}

/** Executes the end of a group's block; returns what `runBlock` does. */
export function endBlock(warp: Warp, group: Group): Group | null {
  const { terminator, next } = group.at;
  if (terminator === null) group.at = next!;
  else terminator.run(warp, group);
  const same = warp.groups.length === 1 && warp.groups[0] === group && group.wait === null;
  const picked = same ? group : pick(warp);
  return warp.yielded || warp.passesTurn || warp.cta.released ? null : picked;
}

/**
 * The group that a warp runs next, or null when it can run none. When all groups wait, lanes that have returned may be
 * what they wait for.
 */
export function pick(warp: Warp): Group | null {
  const group = warp.pick();
  if (group !== null || warp.groups.length === 0 || warp.lockstep) return group;
  let flushed = false;
  for (const waiting of [...warp.groups]) if (warp.flushReturned(waiting)) flushed = true;
  return flushed ? warp.pick() : null;
}

function runSteps(block: BasicBlock, { activation: x, mask }: Group): void {
  const { steps } = block;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    if (step.guard < 0) step.run(x, mask);
    else {
      const lanes = mask & (x.i32[step.guard]! ^ step.flip);
      if (lanes !== 0) step.run(x, lanes);
    }
  }
}

/** Runs the steps of a block whose instructions may be for certain lanes only. */
function runChannels({ steps }: BasicBlock, { activation: x, mask }: Group): void {
  for (const step of steps) {
    const lanes = lanesOf(step, x, mask);
    if (lanes !== 0) step.run(x, lanes);
  }
}

const wide = new BigInt64Array(32);
const addresses: LaneAddresses = { wide, words: new Int32Array(wide.buffer) };

function runObserved(block: BasicBlock, group: Group, observers: EventSink): void {
  for (const step of block.steps) runStep(step, group, observers);
  if (block.terminator !== null) announce(block.terminator, group, observers);
}

/** Executes one instruction that does not move its group, in all lanes that its guard lets pass. */
export function runStep(step: Step, { activation, mask: all }: Group, observers: EventSink | null): void {
  const mask = lanesOf(step, activation, all);
  if (observers !== null) observe(step, activation, all, mask, observers);
  if (mask !== 0) step.run(activation, mask);
}

function observe(step: Step, activation: Activation, all: number, mask: number, observers: EventSink): void {
  const { warp } = activation;
  const { site } = step;
  if (step.guard >= 0 && observers.watch("guard")) {
    const deciding = guardedLanes(step, all);
    emit(observers, "guard", { warp, activation, site, mask: deciding, group: all });
  }
  if (mask === 0) return;
  emit(observers, "instruction", { warp, activation, site, mask, group: all });
  for (const { code, lanes } of step.undefinedCases) {
    const found = lanes(activation, mask);
    if (found !== 0) emit(observers, "undefinedCase", { warp, activation, site, mask: found, code });
  }
  if (step.accesses.length === 0 || !observers.watch("access")) return;
  const { wide, words } = addresses;
  for (const { ordinal, effect, access, addresses: write } of step.accesses) {
    const lanes = write(activation, mask, addresses);
    if (lanes === 0) continue;
    const where = { ordinal, addresses: wide, addressWords: words };
    emit(observers, "access", { warp, activation, site, mask: lanes, effect, access, ...where });
  }
}

/** Tells observers of an instruction that ends a block, before it is executed. */
export function announce({ guard, site }: Terminator, group: Group, observers: EventSink): void {
  const { activation, mask: all } = group;
  const { warp } = activation;
  if (guard.guard >= 0) {
    emit(observers, "guard", { warp, activation, site, mask: moveDeciders(guard, all), group: all });
  }
  const mask = movedLanes(guard, activation, all);
  if (mask !== 0) emit(observers, "instruction", { warp, activation, site, mask, group: all });
}
