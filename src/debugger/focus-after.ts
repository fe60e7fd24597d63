import type { Moment } from "../interpreter/execution.ts";
import { type Focus, type FocusView, focusOn } from "./focus.ts";
import type { Stop } from "./stop.ts";

/** The machine where time has stopped, and what was in focus before. */
interface Stopped {
  /** The instruction that is executed next. */
  readonly moment: Moment | null;
  readonly focus: Focus;
  readonly view: FocusView;
}

/**
 * Returns the focus after a stop. It moves to the lanes that caused the stop. After a step it stays if it can or, if
 * steps are those of a warp or more (`follows`), moves to the lanes that are executed next.
 */
export function focusAfter(stop: Stop, { moment, focus, view }: Stopped, follows: boolean): Focus {
  const lanes = moment === null ? null : lanesOf(stop, moment, follows);
  if (moment === null || lanes === null) {
    if (view.warp !== null && view.place?.site) return { ...focus, frame: 0 };
    return moment === null ? focus : focusOn(moment);
  }
  const isMine = moment.warp.cta.ticket === focus.block && moment.warp.index === focus.warp;
  return isMine && ((lanes >>> focus.lane) & 1) !== 0 ? { ...focus, frame: 0 } : focusOn(moment, lanes);
}

/** Returns the lanes that caused a stop; 0 if it may have been any lane of the moment; null if no lane did. */
function lanesOf(stop: Stop, moment: Moment, follows: boolean): number | null {
  const {
    reason,
    breakpoints: [hit],
    watchpoints,
    report,
  } = stop;
  if (hit !== undefined) return hit.lanes;
  if (reason === "step" && follows) return moment.group.mask;
  if (!["fault", "report", "watchpoint"].includes(reason)) return null;
  return report === null ? (watchpoints[0]?.lanes ?? 0) : lanesOfThread(moment, report.threads[0]?.thread);
}

/** Returns the lane of a thread, if it is one of the moment's group. */
function lanesOfThread({ warp, group }: Moment, thread: readonly number[] | undefined): number {
  let lanes = 0;
  for (let lane = 0; lane < 32; lane++) {
    const same = thread?.every((n, axis) => n === warp.tid[32 * axis + lane]);
    if (same && ((group.mask >>> lane) & 1) !== 0) lanes |= 1 << lane;
  }
  return lanes;
}
