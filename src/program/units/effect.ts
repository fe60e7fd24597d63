import { lowestLane } from "../../ir/lane-mask.ts";
import { type AsyncEffect, type Completion, PendingEffects } from "../../machine/state/pending-effects.ts";
import type { UnitCall } from "./unit-call.ts";

/** What an asynchronous operation does once it takes effect. */
export type Effect = Pick<AsyncEffect, "copy" | "mbarriers" | "read" | "perform">;

/** Whether asynchronous operations take effect as late as they may. */
export const isLate = ({ x }: Pick<UnitCall, "x">): boolean => x.warp.cta.units.late;

/** Issues an operation of a lane, which takes effect at once unless the schedule wants it late. */
export function issue({ x, site }: UnitCall, lane: number, effect: Effect): void {
  const { units } = x.warp.cta;
  const completion = effect.mbarriers.length === 0 ? "bulk" : "mbarrier";
  if (!units.late) effect.perform();
  else units.of(PendingEffects).issue({ warp: x.warp, lane, site, completion, ...effect });
}

/** What counts operations that are no copies of ranges or boxes. */
type OtherCompletion = Exclude<Completion, "mbarrier" | "copies" | "bulk">;

/** Issues an operation of a lane, or of all lanes for which the unit acts, that nothing but its completion counts. */
export function issueUncounted(
  { x, site, lanes }: UnitCall,
  completion: OtherCompletion,
  perform: () => void,
  lane = lowestLane(lanes),
): void {
  const { units } = x.warp.cta;
  if (!units.late) perform();
  else {
    const effect = { warp: x.warp, lane, site, copy: null, completion, mbarriers: [], read: () => {}, perform };
    units.of(PendingEffects).issue(effect);
  }
}
