import type { Moment } from "../interpreter/execution.ts";
import { type Focus, type FocusView, focusOn } from "./focus.ts";
import type { Stop } from "./stop.ts";

/** The machine where time has stopped, and what was in focus before. */
interface Stopped {
  /** What is executed next. */
  readonly moment: Moment | null;
  readonly focus: Focus;
  readonly view: FocusView;
}

/**
 * Whoever has made time stop comes into focus; after a step, whoever is in focus stays there if it can, or, where steps are those
 * of a warp or more, `follows` what is executed next.
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

/** The lanes that have made time stop, 0 when it may have been any of the moment's; null: nobody has. */
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

/** The lane of a thread, where it is of the moment's group. */
function lanesOfThread({ warp, group }: Moment, thread: readonly number[] | undefined): number {
  let lanes = 0;
  for (let lane = 0; lane < 32; lane++) {
    const same = thread?.every((n, axis) => n === warp.tid[32 * axis + lane]);
    if (same && ((group.mask >>> lane) & 1) !== 0) lanes |= 1 << lane;
  }
  return lanes;
}
