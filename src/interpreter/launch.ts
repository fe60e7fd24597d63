import { emit } from "../machine/events.ts";
import { Fault } from "../machine/faults/fault.ts";
import { addFault } from "../machine/faults/report-sink.ts";
import type { LaunchRequest, LaunchResult } from "../machine/launch.ts";
import type { FunctionCode } from "../machine/state/launch-state.ts";
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
  const open = openLaunch(program, request, options);
  const { grid } = open;
  const { observers } = grid;
  if (observers !== null) emit(observers, "launchBegin", grid);
  try {
    refuse(program, open);
    if (!grid.reports.failed) {
      const { functionNamed } = contextFor(program, request, options.generate);
      runGrid(grid, scheduleOf(program, request, open, functionNamed(request.kernel)!));
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    addFault(grid.reports, error);
  }
  if (observers !== null) emit(observers, "launchEnd", grid);
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
