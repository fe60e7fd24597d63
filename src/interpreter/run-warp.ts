import { popcount } from "../machine/barrier.ts";
import type { BasicBlock } from "../machine/code.ts";
import type { Observers } from "../machine/events.ts";
import type { Grid } from "../machine/grid.ts";
import type { Group } from "../machine/group.ts";
import type { Warp } from "../machine/warp.ts";
import { guardedLanes, lanesOf, moveDeciders, movedLanes } from "./channels.ts";

/**
 * Runs a warp until all of its groups wait or have ended, until one gives way, or for this many blocks. False when there
 * was nothing to run.
 */
export function runWarp(warp: Warp, grid: Grid, blocks: number): boolean {
  warp.yielded = false;
  let group = pick(warp);
  if (group === null) return false;
  for (let left = blocks; group !== null && left > 0 && !warp.yielded; left--) {
    const block = group.at;
    grid.steps += block.size * popcount(group.mask);
    if (grid.observers !== null) runObserved(block, group, grid.observers);
    else if (warp.lockstep) runChannels(block, group);
    else runSteps(block, group);
    if (block.terminator === null) group.at = block.next!;
    else block.terminator.run(warp, group);
    if (warp.groups.length !== 1 || warp.groups[0] !== group || group.wait !== null) group = pick(warp);
  }
  return true;
}

/**
 * The group that a warp runs next, or null when it can run none. When all groups wait, lanes that have returned may be what
 * they wait for.
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

/** The same where instructions are for certain lanes. */
function runChannels({ steps }: BasicBlock, { activation: x, mask }: Group): void {
  for (const step of steps) {
    const lanes = lanesOf(step, x, mask);
    if (lanes !== 0) step.run(x, lanes);
  }
}

const addresses = new BigInt64Array(32);

function runObserved(block: BasicBlock, { activation, mask: all }: Group, observers: Observers): void {
  const { warp } = activation;
  for (const step of block.steps) {
    const { site } = step;
    if (step.guard >= 0) {
      const asked = guardedLanes(step, all);
      observers.emit("guard", { warp, activation, site, mask: asked, group: all });
    }
    const mask = lanesOf(step, activation, all);
    if (mask === 0) continue;
    observers.emit("instruction", { warp, activation, site, mask, group: all });
    for (const { code, lanes } of step.undefinedCases) {
      const found = lanes(activation, mask);
      if (found !== 0) observers.emit("undefinedCase", { warp, activation, site, mask: found, code });
    }
    const { op } = site.instruction;
    if (step.addresses !== null && (op.kind === "load" || op.kind === "store" || op.kind === "atomic")) {
      const lanes = step.addresses(activation, mask, addresses);
      if (lanes !== 0)
        observers.emit("access", {
          warp,
          activation,
          site,
          mask: lanes,
          effect: op.kind,
          access: op.access,
          addresses,
        });
    }
    step.run(activation, mask);
  }
  const { terminator } = block;
  if (terminator !== null) {
    const { guard, site } = terminator;
    if (guard.guard >= 0) {
      observers.emit("guard", { warp, activation, site, mask: moveDeciders(guard, all), group: all });
    }
    const mask = movedLanes(guard, activation, all);
    if (mask !== 0) observers.emit("instruction", { warp, activation, site, mask, group: all });
  }
}
