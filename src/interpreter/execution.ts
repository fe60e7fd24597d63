import { emit } from "../machine/events.ts";
import { Fault } from "../machine/faults/fault.ts";
import type { LaunchRequest } from "../machine/launch.ts";
import { type Restore, restoreAll } from "../machine/memory/checkpoint.ts";
import type { GuardWord, Site } from "../machine/state/code.ts";
import type { Cta, Grid, Group, Step, Warp } from "../machine/state/launch-state.ts";
import { lanesOf, movedLanes } from "./compile/guards.ts";
import type { ProgramContext } from "./compile/program-context.ts";
import { openLaunch, refuse } from "../program/open-launch.ts";
import type { Program } from "../program/program.ts";
import { contextFor } from "./decoded-program.ts";
import { type LaunchOptions, scheduleOf } from "./launch.ts";
import { announce, beginTurn, countSteps, endBlock, runBlock, runStep } from "./schedule/run-warp.ts";
import type { Schedule } from "./schedule/schedule.ts";

/** The instruction that a launch executes next, and the lanes that do so. */
export interface Moment {
  readonly warp: Warp;
  /** The lanes that stand at it. */
  readonly group: Group;
  readonly site: Site;
  /** Decides which of them execute it. */
  readonly guard: GuardWord;
  /** Null: the instruction ends its block. */
  readonly step: Step | null;
}

/**
 * A launch that runs one instruction of one warp at a time, or one basic block at a time, with the same effects as
 * `launch`, in the same order. Time counts instructions, including those whose guard lets no lane pass.
 */
export class Execution {
  readonly grid: Grid;
  /** The program whose kernel is launched. @internal */
  readonly program: Program;
  /** The functions that the launch executes. @internal */
  readonly context: ProgramContext;
  /** Instructions executed so far. */
  time = 0;
  /** The reason why no warp can go on although blocks have not ended. */
  stuck: Fault | null = null;
  readonly #schedule: Schedule;
  /** The warp whose turn it is; null when all blocks have ended. */
  #warp: Warp | null = null;
  #group: Group | null = null;
  /** Basic blocks that the warp may run until its turn is over. */
  #left = 0;
  /** The next instruction within the group's block. */
  #index = 0;

  /** Throws what `launch` throws. A launch that is refused has ended, with a report. @internal */
  constructor(program: Program, request: LaunchRequest, options: LaunchOptions = {}) {
    // One may go back in time to a launch that began with other constants.
    const open = openLaunch(program, request, { ...options, ownConstants: true });
    const { grid } = open;
    this.program = program;
    this.context = contextFor(program, request, options.generate);
    this.grid = grid;
    this.#schedule = scheduleOf(program, request, open, this.context.functionNamed(request.kernel)!);
    const { observers } = grid;
    if (observers !== null) emit(observers, "launchBegin", grid);
    refuse(program, open);
    if (!grid.reports.failed) this.#takeTurns();
  }

  /** What comes next; null when all blocks have ended, and when no warp can go on. */
  get moment(): Moment | null {
    if (this.#warp === null || this.#group === null) return null;
    const { steps, terminator } = this.#group.at;
    const step = steps[this.#index] ?? null;
    const { site, guard } = step === null ? terminator! : { site: step.site, guard: step };
    return { warp: this.#warp, group: this.#group, site, guard, step };
  }

  /** The group of the moment, or null. */
  get group(): Group | null {
    return this.#warp === null ? null : this.#group;
  }

  /**
   * The time of the instruction that ends the group's block. Only such an instruction lets a kernel print, so this is
   * the time of what is printed while the block runs as a whole.
   */
  get blockEnd(): number {
    return this.time + this.#group!.at.steps.length - this.#index;
  }

  /** The blocks that run at the same time, in the order of the grid. */
  get blocks(): readonly Cta[] {
    return this.#schedule.blocks;
  }

  /** Executes one instruction. Throws a `Fault`; then an earlier state has to be restored before anything else. */
  step(): void {
    const group = this.#group!;
    const { observers } = this.grid;
    const { steps, terminator } = group.at;
    if (this.#index === 0) countSteps(this.grid, group);
    const step = steps[this.#index];
    if (step !== undefined) runStep(step, group, observers);
    else if (observers !== null) announce(terminator!, group, observers);
    const endsBlock = step === undefined || (terminator === null && this.#index === steps.length - 1);
    if (endsBlock) this.#endBlock();
    else this.#index++;
    this.time++;
  }

  /**
   * Executes whole basic blocks, at most `max` of them. It stops before a block that ends after the time `limit` or
   * that is wanted for a closer look, and does nothing in the middle of a block. Throws as `step` does; the time is
   * then that at which the block began.
   */
  runBlocks(limit: number, max: number, isWanted: (group: Group) => boolean): void {
    if (this.#index > 0) return;
    for (let left = max; left > 0 && this.#warp !== null; left--) {
      const group = this.#group!;
      const { steps, terminator } = group.at;
      const end = this.time + steps.length + (terminator === null ? 0 : 1);
      if (end > limit || isWanted(group)) return;
      const next = runBlock(this.#warp, group, this.grid);
      this.#goOn(next);
      this.time = end;
    }
  }

  /** Bytes that a checkpoint keeps besides the device's memory, about. */
  get stateBytes(): number {
    return this.blocks.reduce((sum, cta) => sum + cta.stateBytes, 0);
  }

  /** Covers everything except the device's memory. */
  checkpoint(): Restore {
    const { grid, context, time, stuck } = this;
    const { steps, activationBytes, clockReads } = grid;
    const [warp, group, left, index] = [this.#warp, this.#group, this.#left, this.#index];
    const pools = context.functions.map(({ pool }) => ({ pool, kept: [...pool] }));
    const parts = restoreAll([this.#schedule, ...this.blocks].map((part) => part.checkpoint()));
    return () => {
      Object.assign(this, { time, stuck });
      Object.assign(grid, { steps, activationBytes, clockReads });
      [this.#warp, this.#group, this.#left, this.#index] = [warp, group, left, index];
      for (const { pool, kept } of pools) pool.splice(0, pool.length, ...kept);
      parts();
    };
  }

  #endBlock(): void {
    this.#goOn(endBlock(this.#warp!, this.#group!));
  }

  #goOn(next: Group | null): void {
    this.#group = next;
    this.#index = 0;
    this.#left--;
    if (next !== null && this.#left > 0) return;
    this.#schedule.took(this.#warp!);
    this.#takeTurns();
  }

  #takeTurns(): void {
    do {
      this.#warp = this.#nextWarp();
      if (this.#warp === null) return;
      this.#left = this.#schedule.quantum;
      this.#group = beginTurn(this.#warp);
    } while (this.#group === null);
  }

  #nextWarp(): Warp | null {
    try {
      return this.#schedule.next();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.stuck = error;
      return null;
    }
  }
}

/** The lanes of a moment that execute its instruction. */
export function executingLanes({ group, guard, step }: Moment): number {
  const { activation, mask } = group;
  return step === null ? movedLanes(guard, activation, mask) : lanesOf(guard, activation, mask);
}
