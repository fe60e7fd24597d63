import type { Moment } from "../interpreter/execution.ts";
import type { Site } from "../machine/state/code.ts";
import type { Focus, FocusView } from "./focus.ts";
import type { StepOptions } from "./step-probe.ts";
import { levelOf } from "./view/lane-place.ts";

/** Why a lane cannot be stepped. */
export const laneHasEnded =
  "the lane in focus has ended: look at another one (info lanes), or step by warp (scope warp)";

/** Why a block cannot be stepped. */
export const blockHasEnded =
  "the block in focus has ended: look at another one (info blocks), or step by machine (scope machine)";

/** Where a step begins. */
interface StepStart {
  /** What the lane executes next. */
  readonly from: Site | null;
  /** How many calls deep the lane is. */
  readonly depth: number;
  readonly focus: Focus;
  readonly next: () => Moment | null;
}

/** Returns a step from somewhere; `level` is that of the function in focus, by default that of the user's innermost. */
export function stepFrom(
  start: StepStart,
  how: Pick<StepOptions, "kind" | "scope" | "granularity"> & { readonly level?: number | undefined },
): StepOptions {
  const { from } = start;
  return { ...how, ...start, level: how.level ?? (from === null ? 0 : levelOf(from)) };
}

/** The number of functions that are inlined into each other at the present place, from the one in focus outwards. */
export function inlinedAround({ frames, frame, place }: FocusView): number {
  if (frame === null || frame.activation !== place?.activation) return 0;
  const own = frames.filter(({ activation }) => activation === frame.activation);
  return own.length - own.indexOf(frame);
}

/**
 * The frame in which a step over ends: the function where it began, or the one around it if the step has left that for
 * another one.
 */
export function frameAround({ frames }: FocusView, around: number, name: string | null): number {
  const own = frames.filter(({ activation }) => activation === frames[0]?.activation);
  const frame = Math.max(0, own.length - around);
  return own[frame]?.function !== name && frame + 1 < own.length ? frame + 1 : frame;
}

/** The frame that is at the line of a breakpoint, FILE:LINE, if a function is inlined there; else the innermost one. */
export function frameAtLine({ frames }: FocusView, text: string): number {
  const [, line] = /(?:^|:|line )(\d+)$/.exec(text) ?? [];
  const own = frames.filter(({ activation }) => activation === frames[0]?.activation);
  return Math.max(0, line === undefined ? 0 : own.findIndex(({ place }) => place?.line === Number(line)));
}
