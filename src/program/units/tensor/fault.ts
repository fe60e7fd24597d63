import { Fault, type FaultDetails } from "../../../machine/faults/fault.ts";
import type { UnitCall } from "../unit-call.ts";

/** The fault of the lanes for which a unit acts, or of one of them. */
export const tensorFault = (
  { x, site, lanes }: Pick<UnitCall, "x" | "site" | "lanes">,
  code: string,
  message: string,
  details: FaultDetails = {},
  lane?: number,
): Fault => new Fault(code, message, { site, activation: x, lanes: lane === undefined ? lanes : 1 << lane }, details);
