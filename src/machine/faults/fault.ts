import type { StackEntry } from "../reports/report.ts";
import type { CallFrame } from "../state/launch-state.ts";
import type { Site } from "../state/code.ts";

export interface FaultDetails {
  readonly help?: string | undefined;
  readonly notes?: readonly string[];
  /** Where the activation is no longer in the function of the site. */
  readonly stack?: readonly StackEntry[];
}

/** Where something has gone wrong: at an instruction, in some lanes of an activation. */
export interface FaultPlace {
  readonly site: Site;
  readonly activation: CallFrame;
  readonly lanes: number;
}

/** Ends a launch: something happened at an instruction that has no defined continuation. Thrown and caught inside the engine. */
export class Fault {
  readonly code: string;
  readonly message: string;
  readonly site: Site;
  readonly activation: CallFrame;
  /** The lanes of the warp to which it happened. */
  readonly lanes: number;
  readonly details: FaultDetails;

  constructor(code: string, message: string, at: FaultPlace, details: FaultDetails = {}) {
    this.code = code;
    this.message = message;
    this.site = at.site;
    this.activation = at.activation;
    this.lanes = at.lanes;
    this.details = details;
  }

  /** The same, in these lanes. */
  inLanes(lanes: number): Fault {
    return new Fault(this.code, this.message, { site: this.site, activation: this.activation, lanes }, this.details);
  }
}
