import { type AsyncEffect, PendingEffects } from "../../machine/state/pending-effects.ts";
import type { UnitCall } from "./unit-call.ts";

/** What an asynchronous operation does once it takes effect. */
export type Effect = Pick<AsyncEffect, "mbarriers" | "read" | "perform">;

/** Issues an operation of a lane, which takes effect at once unless the schedule wants it late. */
export function issue({ x, states }: UnitCall, lane: number, effect: Effect): void {
  if (!states.late) effect.perform();
  else states.of(PendingEffects).issue({ warp: x.warp, lane, ...effect });
}
