import { maskText } from "../ir/lane-mask.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";

/** The fault of lanes that arrive at the barrier of their cluster again before they have waited. */
export const arrivedTwice = (at: FaultPlace): Fault =>
  new Fault(
    "cluster-barrier-misuse",
    `lanes ${maskText(at.lanes)} arrive at the barrier of the cluster again, and have not waited since they last did`,
    at,
  );

/** The fault of lanes that wait at the barrier of their cluster without having arrived. */
export const notArrived = (at: FaultPlace): Fault =>
  new Fault(
    "cluster-barrier-misuse",
    `lanes ${maskText(at.lanes)} wait at the barrier of the cluster, and have not arrived since they last did`,
    at,
  );
