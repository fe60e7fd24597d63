import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { Cta, Grid, Warp } from "../../machine/state/launch-state.ts";
import { deadlock } from "../../program/deadlock.ts";
import type { Limits } from "./limits.ts";
import type { ResidentBlocks } from "./resident-blocks.ts";
import { Stalls } from "./stalls.ts";
import { runWarp } from "./run-warp.ts";

/** The order in which warps run. Between two turns a schedule is data, which a debugger can save and restore. */
export interface Schedule {
  /** The blocks that have begun and not ended, in the order of the grid. */
  readonly blocks: readonly Cta[];
  /** Basic blocks that a warp may run before the next one has its turn. */
  readonly quantum: number;
  /**
   * The warp that has its turn, or null when all blocks have ended. Throws a fault when no warp can go on, or at a
   * limit.
   */
  next(): Warp | null;
  /** The warp had something to run, and its turn is over. */
  took(warp: Warp): void;
  checkpoint(): Restore;
}

/** Runs all blocks of a grid. */
export function runGrid(grid: Grid, schedule: Schedule): void {
  const { quantum } = schedule;
  for (let warp = schedule.next(); warp !== null; warp = schedule.next()) {
    if (runWarp(warp, grid, quantum)) schedule.took(warp);
  }
}

/**
 * All blocks of a grid, in the order of the grid. One block runs at a time as long as it makes progress; when it only
 * spins, others join it, so that a block may wait for any that are resident with it.
 */
export class UsualSchedule implements Schedule {
  readonly quantum = 1024;
  readonly #resident: ResidentBlocks;
  readonly #limits: Limits;
  /** The blocks that have their turns in this round, how many have had theirs, and whether any of them has ended. */
  #round: readonly Cta[] = [];
  #had = 0;
  #finished = false;
  /**
   * The block that runs, how many of its warps have had their turn, whether any ran, and whether all that did have
   * given way.
   */
  #running: Cta | null = null;
  #hadTurn = 0;
  #ran = false;
  #yielded = true;
  readonly #stalls = new Stalls();

  constructor(resident: ResidentBlocks, limits: Limits) {
    this.#resident = resident;
    this.#limits = limits;
  }

  get blocks(): readonly Cta[] {
    return this.#resident.blocks;
  }

  next(): Warp | null {
    do {
      const warps = this.#running?.warps ?? [];
      while (this.#hadTurn < warps.length) {
        const warp = warps[this.#hadTurn++]!;
        if (warp.live === 0) continue;
        this.#limits.check(warp);
        return warp;
      }
    } while (this.#turnToBlock());
    return null;
  }

  took(warp: Warp): void {
    this.#ran = true;
    // All threads go on, from the first, as in compiled code: which of them faults first is the same there.
    if (warp.cta.released) this.#hadTurn = 0;
    if (!warp.yielded) this.#yielded = false;
  }

  checkpoint(): Restore {
    const resident = this.#resident.checkpoint();
    const stalls = this.#stalls.checkpoint();
    const [round, had, finished, running] = [this.#round, this.#had, this.#finished, this.#running];
    const [hadTurn, ran, yielded] = [this.#hadTurn, this.#ran, this.#yielded];
    return () => {
      resident();
      stalls();
      [this.#round, this.#had, this.#finished, this.#running] = [round, had, finished, running];
      [this.#hadTurn, this.#ran, this.#yielded] = [hadTurn, ran, yielded];
    };
  }

  /** Gives the block that has run another turn, or the next one its turn. False when all blocks have ended. */
  #turnToBlock(): boolean {
    const cta = this.#running;
    if (cta !== null && cta.liveWarps > 0) {
      if (!this.#ran) throw deadlock(cta);
      this.#stalls.turn(cta, this.#resident.blocks);
      if (!this.#yielded) return this.#begin(cta);
    } else if (cta !== null) this.#end(cta);
    if (this.#had === this.#round.length && !this.#beginRound()) return false;
    return this.#begin(this.#round[this.#had++]!);
  }

  #begin(cta: Cta): true {
    this.#running = cta;
    this.#hadTurn = 0;
    this.#ran = false;
    this.#yielded = true;
    return true;
  }

  #end(cta: Cta): void {
    this.#running = null;
    this.#finished = true;
    this.#resident.close(cta);
    this.#limits.progress(this.#resident.done, this.#resident.total);
  }

  /** Begins a round of turns. If no block has ended in the last one, others join them. */
  #beginRound(): boolean {
    const resident = this.#resident;
    if (resident.ended) return false;
    if (resident.blocks.length === 0) resident.open(1);
    else if (!this.#finished) resident.open(resident.blocks.length);
    this.#round = resident.blocks;
    this.#had = 0;
    this.#finished = false;
    return true;
  }
}
