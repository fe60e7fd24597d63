import type { FunctionCode } from "../machine/code.ts";
import { Cta } from "../machine/cta.ts";
import type { Grid } from "../machine/grid.ts";
import type { Warp } from "../machine/warp.ts";
import { deadlock } from "./deadlock.ts";
import type { Limits } from "./limits.ts";
import { runWarp } from "./run-warp.ts";

/** Basic blocks that a warp may run before the next one has its turn. */
const quantum = 1024;
/** Blocks that run at the same time, when earlier ones wait for later ones. */
const mostInFlight = 512;

/** The order in which warps and blocks have their turns: fixed, or permuted by a seed. */
class Turns {
  #state: number | null;

  constructor(seed: number | undefined) {
    this.#state = seed === undefined ? null : seed | 0;
  }

  get quantum(): number {
    return this.#state === null ? quantum : 1 + (this.#next() % 64);
  }

  /** How many blocks to begin with. */
  get inFlight(): number {
    return this.#state === null ? 1 : 1 + (this.#next() % 8);
  }

  order<T>(list: readonly T[]): readonly T[] {
    if (this.#state === null) return list;
    const shuffled = [...list];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.#next() % (i + 1);
      [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
    }
    return shuffled;
  }

  /** A xorshift generator, by way of a multiplication (mulberry32). */
  #next(): number {
    this.#state = (this.#state! + 0x6d2b_79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }
}

/**
 * Runs all blocks of a grid, in the order of their tickets. One block runs at a time as long as it gets on; when it only
 * spins, others join it, so that a block may wait for any that are in flight with it.
 */
export function runGrid(
  grid: Grid,
  kernel: FunctionCode,
  sharedBytes: number,
  limits: Limits,
  seed: number | undefined,
): void {
  const [gx, gy, gz] = grid.dimensions;
  const total = gx * gy * gz;
  const turns = new Turns(seed);
  const most = Math.min(mostInFlight, grid.threads?.residentGroups ?? mostInFlight);
  const idle: Cta[] = [];
  let flight: Cta[] = [];
  let tickets = 0;
  let made = 0;
  let done = 0;
  const open = (count: number): void => {
    for (let i = 0; i < count && tickets < total && flight.length < most; i++) {
      const cta = idle.pop() ?? new Cta(grid, sharedBytes, made++);
      cta.start(tickets++, kernel);
      grid.observers?.emit("blockBegin", cta);
      flight.push(cta);
    }
  };
  while (done < total) {
    if (flight.length === 0) open(turns.inFlight);
    const finished = new Set<Cta>();
    for (const cta of turns.order(flight)) {
      if (!runBlock(cta, grid, turns, limits)) continue;
      grid.observers?.emit("blockEnd", cta);
      finished.add(cta);
      idle.push(cta);
      done++;
      limits.progress(done, total);
    }
    flight = flight.filter((cta) => !finished.has(cta));
    if (finished.size === 0) open(flight.length);
  }
}

/** True when the block has ended, false when all of its warps spin or sleep. */
function runBlock(cta: Cta, grid: Grid, turns: Turns, limits: Limits): boolean {
  for (;;) {
    let ran = false;
    let yielded = true;
    for (const warp of turns.order<Warp>(cta.warps)) {
      if (warp.live === 0) continue;
      limits.check(warp);
      if (!runWarp(warp, grid, turns.quantum)) continue;
      ran = true;
      if (!warp.yielded) yielded = false;
    }
    if (cta.liveWarps === 0) return true;
    if (!ran) throw deadlock(cta);
    if (yielded) return false;
  }
}
