import { emit } from "../machine/events.ts";
import { Fault } from "../machine/faults/fault.ts";
import { addFault } from "../machine/faults/report-sink.ts";
import type { LaunchRequest, LaunchResult } from "../machine/launch.ts";
import type { FunctionCode, Grid } from "../machine/state/launch-state.ts";
import { type GridOptions, type OpenLaunch, openLaunch, refuse } from "../program/open-launch.ts";
import type { Program } from "../program/program.ts";
import { contextFor } from "./decoded-program.ts";
import { Limits } from "./schedule/limits.ts";
import { ResidentBlocks } from "./schedule/resident-blocks.ts";
import { runGrid, type Schedule, UsualSchedule } from "./schedule/schedule.ts";
import { SeededSteering } from "./schedule/seeded.ts";
import { SteeredSchedule } from "./schedule/steered.ts";

export interface LaunchOptions extends GridOptions {
  /**
   * Whether to make code from text: much faster, but a page's content security policy may forbid it. Default: if
   * possible.
   */
  readonly generate?: boolean;
}

/** The interpreter counts what it executes. */
interface CountedResult extends LaunchResult {
  readonly steps: number;
}

/**
 * Runs a kernel to its end, or to the first fault. Throws a RangeError when the request itself makes no sense: an
 * unknown kernel, too few bytes of parameters, a block of no or of more than 1024 threads.
 */
export function launch(program: Program, request: LaunchRequest, options: LaunchOptions = {}): CountedResult {
  const { grid, schedule } = begin(program, request, options);
  if (schedule !== null) reporting(grid, () => runGrid(grid, schedule));
  return end(grid);
}

/**
 * Does what `launch` does, a few milliseconds at a time: between them the host does what there is to do, which the
 * kernel may wait for. One launch runs at a time, on whatever device: what watches it may watch the next one, too.
 * Where nothing watches, a launch that has waited long runs beside the other one, which may wait for it.
 */
export async function launchInSlices(
  program: Program,
  request: LaunchRequest,
  options: LaunchOptions = {},
): Promise<CountedResult> {
  const { last: before, kernel: running } = inSlices;
  let leave = (): void => {};
  const own = new Promise<void>((resolve) => {
    leave = resolve;
  });
  inSlices = { last: Promise.all([before, own]).then(() => {}), kernel: request.kernel };
  const isWatched = (options.observers ?? []).length > 0 || request.steering !== undefined;
  await inTurn(before, isWatched, () => program.memory.pending.onLongWait?.(request.kernel, running));
  try {
    const { grid, schedule } = begin(program, request, options);
    let hasEnded = schedule === null;
    while (!hasEnded) {
      const until = performance.now() + sliceMs;
      const goesOn = reporting(grid, () => {
        hasEnded = runGrid(grid, schedule!, () => performance.now() >= until);
      });
      if (!goesOn) break;
      if (!hasEnded) await giveWay();
    }
    return end(grid);
  } finally {
    leave();
  }
}

/** Waits for the launches before one: for ever if it is watched. `tell` is called when that takes long. */
async function inTurn(before: Promise<void>, isWatched: boolean, tell: () => void): Promise<void> {
  const telling = setTimeout(tell, tellAfterMs);
  let patience: ReturnType<typeof setTimeout> | undefined;
  const enough = new Promise<void>((resolve) => {
    if (!isWatched) patience = setTimeout(resolve, patienceMs);
  });
  await Promise.race([before, enough]);
  clearTimeout(telling);
  clearTimeout(patience);
}

/** Gives the host's loop a turn. Browsers have timers alone, which wait for some milliseconds themselves. */
const { setImmediate: soon = null } = globalThis as { setImmediate?: (run: () => void) => unknown };

/** Milliseconds for which others wait at most, unless a warp's turn takes longer. */
const sliceMs = soon === null ? 40 : 4;

/** Milliseconds for which a launch that nothing watches waits for others, and after which others tell of their wait. */
const patienceMs = 1_000;
const tellAfterMs = 10_000;

/** The launch in slices that was asked for last: resolves when it and all before it have ended. */
let inSlices: { readonly last: Promise<void>; readonly kernel: string } = { last: Promise.resolve(), kernel: "" };

/** Resolves after everything that waits for a turn of the host's loop has had one. */
const giveWay = (): Promise<void> => new Promise((resolve) => void (soon ?? setTimeout)(resolve));

/** A launch that has begun; its schedule is null where it has failed already. */
function begin(
  program: Program,
  request: LaunchRequest,
  options: LaunchOptions,
): { readonly grid: Grid; readonly schedule: Schedule | null } {
  const open = openLaunch(program, request, options);
  const { grid } = open;
  if (grid.observers !== null) emit(grid.observers, "launchBegin", grid);
  let schedule: Schedule | null = null;
  reporting(grid, () => {
    refuse(program, open);
    if (grid.reports.failed) return;
    const { functionNamed } = contextFor(program, request, options.generate);
    schedule = scheduleOf(program, request, open, functionNamed(request.kernel)!);
  });
  return { grid, schedule };
}

/** Reports the fault with which a part of a launch ends. Returns whether there was none. */
function reporting(grid: Grid, run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    addFault(grid.reports, error);
    return false;
  }
}

function end(grid: Grid): CountedResult {
  if (grid.observers !== null) emit(grid.observers, "launchEnd", grid);
  return { ok: !grid.reports.failed, steps: grid.steps, reports: grid.reports.reports };
}

/** The order in which the warps of a launch run. */
export function scheduleOf(program: Program, request: LaunchRequest, open: OpenLaunch, kernel: FunctionCode): Schedule {
  const { grid, sharedBytes } = open;
  const limits = new Limits(grid, request);
  const resident = new ResidentBlocks(grid, kernel, sharedBytes, request.blocks);
  const steering = request.steering ?? (request.seed === undefined ? null : new SeededSteering(request.seed));
  if (steering === null) return new UsualSchedule(resident, limits);
  return new SteeredSchedule(resident, { limits, steering, apart: lanesRunApart(program.module.target) });
}

/**
 * Whether lanes of a warp are scheduled independently of each other (independent thread scheduling): PTX from sm_70 on.
 */
const lanesRunApart = (target: string): boolean => Number(/^sm_(\d+)/.exec(target)?.[1] ?? 0) >= 70;
