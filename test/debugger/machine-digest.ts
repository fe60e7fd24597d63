import { createHash } from "node:crypto";
import type { Timeline } from "../../src/debugger/timeline.ts";
import type { Activation, Warp } from "../../src/machine/state/launch-state.ts";
import { scalarIndex } from "../../src/machine/state/specials.ts";

/**
 * Returns a hash of all that a program can ever see of the machine: memory, blocks, warps, groups, activations,
 * barriers, counters. The grid's number is left out, because it counts the launches of the process.
 */
export function digest(timeline: Timeline): string {
  const { memory, execution, now } = timeline;
  const hash = createHash("sha256");
  const say = (...values: unknown[]): void => void hash.update(`${values.map(String).join(" ")}\n`);
  say(now, memory.quarantine, memory.used, ...memory.heap);
  for (const { start, end, name, freed } of memory.allocations) {
    say(start, end, name, freed);
    hash.update(memory.views.u8.subarray(start, end));
  }
  const { grid, moment, stuck } = execution;
  say(timeline.launch.index, grid.steps, grid.activationBytes, grid.clockReads, execution.time, stuck?.code);
  say(moment?.site.code.ir.name, moment?.site.index, moment?.warp.index, moment?.group.mask);
  for (const cta of execution.blocks) {
    say("block", cta.id, cta.ticket, cta.slot, cta.scalars.with(scalarIndex("gridid"), 0));
    hash.update(cta.shared.u8);
    for (const b of cta.barriers)
      say(
        b.id,
        b.arrived,
        b.round,
        b.count,
        b.waiters.map((w) => w.warp.index),
      );
    for (const warp of cta.warps) sayWarp(warp, say, (bytes) => void hash.update(bytes));
  }
  return hash.digest("hex");
}

function sayWarp(warp: Warp, say: (...values: unknown[]) => void, bytes: (bytes: Uint8Array) => void): void {
  say("warp", warp.index, warp.live, warp.watched, warp.yielded, warp.lastJump?.index);
  const activations = [...warp.activations];
  const number = (x: Activation | null): number => (x === null ? -1 : activations.indexOf(x));
  for (const { activation, at, mask, turn, wait } of warp.groups) {
    say(number(activation), at.index, mask, turn, wait?.kind, wait?.arrival.site.index);
  }
  for (const x of activations) {
    const { code, caller, callSite, resume, resumeMask, depth, serial, live, returned, base, top, cost } = x;
    say(code.ir.name, number(caller), callSite?.index, resume?.index, resumeMask, depth, serial, live, returned);
    say(
      base,
      top,
      cost,
      x.unsizedBytes,
      x.pointers,
      x.pieces?.map((p) => [p.lane, p.start, p.end]),
    );
    bytes(new Uint8Array(x.i32.buffer, 0, code.cleanBytes));
    const { views, stride } = warp.stack;
    for (let lane = 0; lane < 32; lane++) {
      // In other lanes nothing can read this part of the stack, and it is not cleared for them.
      if ((((live | returned) >>> lane) & 1) === 0) continue;
      bytes(views.u8.subarray(lane * stride + base, lane * stride + top));
    }
  }
}
