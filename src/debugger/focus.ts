import { lowestLane } from "../ir/lane-mask.ts";
import type { Execution, Moment } from "../interpreter/execution.ts";
import type { Warp } from "../machine/state/launch-state.ts";
import { framesOf, type LaneFrame, type LanePlace, placeOf } from "./view/lane-place.ts";
import type { LaneId } from "./watchpoint.ts";

/** The lane and the function that a debugger looks at. It is named, not held: going through time makes other objects of it. */
export interface Focus extends LaneId {
  /** Counts from the innermost function. */
  readonly frame: number;
}

/** What there is in focus now. */
export interface FocusView {
  /** Null when the block is not running. */
  readonly warp: Warp | null;
  readonly place: LanePlace | null;
  /** The innermost first. */
  readonly frames: readonly LaneFrame[];
  /** The one in focus. */
  readonly frame: LaneFrame | null;
}

export function warpOf({ blocks }: Execution, { block, warp }: LaneId): Warp | null {
  return blocks.find(({ ticket }) => ticket === block)?.warps[warp] ?? null;
}

export function viewOf(execution: Execution, moment: Moment | null, focus: Focus): FocusView {
  const warp = warpOf(execution, focus);
  if (warp === null) return { warp, place: null, frames: [], frame: null };
  const place = placeOf(warp, focus.lane, moment);
  const frames = framesOf(place);
  return { warp, place, frames, frame: frames[focus.frame] ?? null };
}

/** The lowest of the lanes that a moment is about, or of those among them that are asked for. */
export function focusOn({ warp, group }: Moment, lanes = 0): Focus {
  const mask = lanes === 0 ? group.mask : lanes;
  return { block: warp.cta.ticket, warp: warp.index, lane: lowestLane(mask), frame: 0 };
}
