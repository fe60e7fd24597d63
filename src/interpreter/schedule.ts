import type { Cta } from "../machine/cta.ts";
import type { Grid } from "../machine/grid.ts";
import { deadlock } from "./deadlock.ts";
import type { Flight } from "./flight.ts";
import type { Limits } from "./limits.ts";
import { runWarp } from "./run-warp.ts";

/** Basic blocks that a warp may run before the next one has its turn. */
const quantum = 1024;

/**
 * Runs all blocks of a grid, in the order of their tickets. One block runs at a time as long as it gets on; when it only
 * spins, others join it, so that a block may wait for any that are in flight with it.
 */
export function runGrid(flight: Flight, grid: Grid, limits: Limits): void {
  while (!flight.ended) {
    if (flight.blocks.length === 0) flight.open(1);
    let finished = false;
    for (const cta of flight.blocks) {
      if (!runBlock(cta, grid, limits)) continue;
      flight.close(cta);
      finished = true;
      limits.progress(flight.done, flight.total);
    }
    if (!finished) flight.open(flight.blocks.length);
  }
}

/** True when the block has ended, false when all of its warps spin or sleep. */
function runBlock(cta: Cta, grid: Grid, limits: Limits): boolean {
  for (;;) {
    let ran = false;
    let yielded = true;
    for (const warp of cta.warps) {
      if (warp.live === 0) continue;
      limits.check(warp);
      if (!runWarp(warp, grid, quantum)) continue;
      ran = true;
      if (!warp.yielded) yielded = false;
    }
    if (cta.liveWarps === 0) return true;
    if (!ran) throw deadlock(cta);
    if (yielded) return false;
  }
}
