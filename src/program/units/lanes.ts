import { lowestLane } from "../../ir/lane-mask.ts";
import { FailedLanes } from "../../machine/faults/failed-lanes.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { UnitCall } from "./unit-call.ts";

/**
 * Acts for each lane by itself, in lane order.
 *
 * @throws Fault that of the first lane that has one, in all that have the same
 */
export function forEachLane(call: UnitCall, act: (lane: number) => void): void {
  let failed: FailedLanes | null = null;
  for (let m = call.lanes; m !== 0; m &= m - 1) {
    try {
      act(lowestLane(m));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      failed ??= new FailedLanes();
      failed.add(error);
    }
  }
  failed?.end();
}

/** A fault of what a lane asks a unit to do. */
export const unitFault = (
  { x, site }: Pick<UnitCall, "x" | "site">,
  lane: number,
  code: string,
  message: string,
): Fault => new Fault(code, message, { site, activation: x, lanes: 1 << lane });
