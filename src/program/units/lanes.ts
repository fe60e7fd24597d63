import { lanesIn } from "../../ir/lane-mask.ts";
import { FailedLanes } from "../../machine/faults/failed-lanes.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { UnitCall } from "./unit-call.ts";

/**
 * Acts for each lane by itself, in lane order.
 *
 * @throws Fault that of the first lane that has one, in all that have the same
 */
export function forEachLane(call: UnitCall, act: (lane: number) => void): void {
  const failed = new FailedLanes();
  for (const lane of lanesIn(call.lanes)) failed.try(() => act(lane));
  failed.end();
}

/** A fault of what a lane asks a unit to do. */
export const unitFault = (
  { x, site }: Pick<UnitCall, "x" | "site">,
  lane: number,
  code: string,
  message: string,
): Fault => new Fault(code, message, { site, activation: x, lanes: 1 << lane });
