import { lowestLane } from "../ir/lane-mask.ts";
import type { Execution, Moment } from "../interpreter/execution.ts";
import type { Warp } from "../machine/state/launch-state.ts";
import { framesOf, type LaneFrame, type LanePlace, placeOf } from "./view/lane-place.ts";
import type { LaneId } from "./watchpoint.ts";

/**
 * The lane and the function that a debugger shows. It refers to them by number, because moving through time replaces
 * the objects.
 */
export interface Focus extends LaneId {
  /** The function, counted from the innermost one, which is 0. */
  readonly frame: number;
}

/** The current state of what is in focus. */
export interface FocusView {
  /** The warp; null if the block is not running. */
  readonly warp: Warp | null;
  /** Where the lane is; null if the block is not running. */
  readonly place: LanePlace | null;
  /** The functions that the lane is in, the innermost first. */
  readonly frames: readonly LaneFrame[];
  /** The frame in focus. */
  readonly frame: LaneFrame | null;
}

/** Returns a warp of a running block, or null. */
export function warpOf({ blocks }: Execution, { block, warp }: LaneId): Warp | null {
  return blocks.find(({ ticket }) => ticket === block)?.warps[warp] ?? null;
}

/** Returns the current state of what is in focus. */
export function viewOf(execution: Execution, moment: Moment | null, focus: Focus): FocusView {
  const warp = warpOf(execution, focus);
  if (warp === null) return { warp, place: null, frames: [], frame: null };
  const place = placeOf(warp, focus.lane, moment);
  const frames = framesOf(place);
  return { warp, place, frames, frame: frames[focus.frame] ?? null };
}

/** Focuses on the lowest lane of a moment, or on the lowest of `lanes` if they are given. */
export function focusOn({ warp, group }: Moment, lanes = 0): Focus {
  const mask = lanes === 0 ? group.mask : lanes;
  return { block: warp.cta.ticket, warp: warp.index, lane: lowestLane(mask), frame: 0 };
}
