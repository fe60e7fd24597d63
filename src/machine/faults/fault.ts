import type { StackEntry } from "../reports/report.ts";
import type { CallFrame } from "../state/launch-state.ts";
import type { Site } from "../state/code.ts";

/** Further lines of a fault's report. */
export interface FaultDetails {
  readonly help?: string | undefined;
  readonly notes?: readonly string[];
  /** Where the activation is no longer in the function of the site. */
  readonly stack?: readonly StackEntry[];
}

/** Where a fault happened: at an instruction, in some lanes of an activation. */
export interface FaultPlace {
  readonly site: Site;
  readonly activation: CallFrame;
  readonly lanes: number;
}

/**
 * Something that happened at an instruction and has no defined continuation: it ends the launch. Engines throw and
 * catch it.
 */
export class Fault {
  readonly code: string;
  readonly message: string;
  readonly site: Site;
  readonly activation: CallFrame;
  /** Lanes of the warp. */
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

  /** The same fault, in these lanes. */
  inLanes(lanes: number): Fault {
    return new Fault(this.code, this.message, { site: this.site, activation: this.activation, lanes }, this.details);
  }
}
