import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { Cta, Grid, Warp } from "../../machine/state/launch-state.ts";
import { awaitsCluster, deadlock } from "../../program/deadlock.ts";
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

/** Runs the blocks of a grid, in turns after each of which it may stop. Returns whether all have ended. */
export function runGrid(grid: Grid, schedule: Schedule, stops: (() => boolean) | null = null): boolean {
  const { quantum } = schedule;
  for (let warp = schedule.next(); warp !== null; warp = schedule.next()) {
    if (runWarp(warp, grid, quantum)) schedule.took(warp);
    if (stops?.()) return false;
  }
  return true;
}

/** Barriers after which it is the turn of other blocks, if a warp has given way meanwhile. */
const mostBarriers = 64;

/**
 * All blocks of a grid, in order. One block runs at a time as long as it makes progress; when it only spins, others
 * join it, so that a block may wait for any that are resident with it. Blocks of a cluster begin together, and when all
 * threads of one wait, those for their cluster, it is the turn of the next.
 */
export class UsualSchedule implements Schedule {
  readonly quantum = 1024;
  readonly #resident: ResidentBlocks;
  readonly #limits: Limits;
  /**
   * The blocks that have their turns in this round, how many have had theirs, and whether any of them has ended, or has
   * come to where it waits for its cluster.
   */
  #round: readonly Cta[] = [];
  #had = 0;
  #finished = false;
  /** How many blocks in a row had nothing to run, since all of their threads wait. */
  #idle = 0;
  /**
   * The block that runs, how many of its warps have had their turn, whether any ran, and whether all that did have
   * given way.
   */
  #running: Cta | null = null;
  #hadTurn = 0;
  #ran = false;
  #yielded = true;
  /** How many barriers it has passed since it began to run, and whether any of its warps has given way since then. */
  #barriers = 0;
  #gaveWay = false;
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
      const warp = this.#running === null ? null : this.#nextOf(this.#running);
      if (warp !== null) return warp;
    } while (this.#turnToBlock());
    return null;
  }

  /** The warp of a block that has its turn; null if all have had it. */
  #nextOf({ warps }: Cta): Warp | null {
    while (this.#hadTurn < warps.length) {
      const warp = warps[this.#hadTurn++]!;
      if (warp.live === 0) continue;
      this.#limits.check(warp);
      return warp;
    }
    return null;
  }

  took(warp: Warp): void {
    this.#ran = true;
    if (warp.yielded) this.#gaveWay = true;
    else this.#yielded = false;
    if (!warp.cta.released) return;
    // All threads go on, from the first, as in compiled code: which of them faults first is the same there.
    this.#hadTurn = 0;
    if (++this.#barriers < mostBarriers || !this.#gaveWay) return;
    // It may wait for others in a loop with a barrier.
    this.#hadTurn = warp.cta.warps.length;
    this.#yielded = true;
  }

  checkpoint(): Restore {
    const resident = this.#resident.checkpoint();
    const stalls = this.#stalls.checkpoint();
    const [round, had, finished, running] = [this.#round, this.#had, this.#finished, this.#running];
    const [hadTurn, ran, yielded, idle] = [this.#hadTurn, this.#ran, this.#yielded, this.#idle];
    const [barriers, gaveWay] = [this.#barriers, this.#gaveWay];
    return () => {
      resident();
      stalls();
      [this.#round, this.#had, this.#finished, this.#running] = [round, had, finished, running];
      [this.#hadTurn, this.#ran, this.#yielded, this.#idle] = [hadTurn, ran, yielded, idle];
      [this.#barriers, this.#gaveWay] = [barriers, gaveWay];
    };
  }

  /** Gives the block that has run another turn, or the next one its turn. False when all blocks have ended. */
  #turnToBlock(): boolean {
    const cta = this.#running;
    if (cta !== null && cta.liveWarps > 0) {
      if (this.#ran) this.#idle = 0;
      else this.#noteIdle(cta);
      this.#stalls.turn(cta, this.#resident.blocks);
      if (this.#ran && !this.#yielded) {
        if (!awaitsCluster(cta)) return this.#continue(cta);
        this.#finished = true;
      }
    } else if (cta !== null) this.#end(cta);
    if (this.#had === this.#round.length && !this.#beginRound()) return false;
    return this.#begin(this.#round[this.#had++]!);
  }

  /** All threads of a block wait. Others of its cluster may let it go on, unless all blocks wait. */
  #noteIdle(cta: Cta): void {
    if (!awaitsCluster(cta) || ++this.#idle > this.#resident.blocks.length) throw deadlock(cta);
  }

  #begin(cta: Cta): true {
    this.#barriers = 0;
    this.#gaveWay = false;
    return this.#continue(cta);
  }

  #continue(cta: Cta): true {
    this.#running = cta;
    this.#hadTurn = 0;
    this.#ran = false;
    this.#yielded = true;
    return true;
  }

  #end(cta: Cta): void {
    this.#running = null;
    this.#finished = true;
    this.#idle = 0;
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
