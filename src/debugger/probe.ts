import type { Moment } from "../interpreter/execution.ts";
import type { Group } from "../machine/state/launch-state.ts";

/**
 * What a debugger looks for while it goes through time. Basic blocks without any of it run at full speed; only those
 * that the probe `wants` are executed one instruction at a time.
 */
export interface Probe {
  /** Whether the probe wants to see the instructions of the block that a group is about to execute. */
  wants(group: Group): boolean;
  /** Called before an instruction is executed; returns whether the search ends here. */
  before(moment: Moment): boolean;
  /** Called after the instruction has been executed; returns whether the search ends here. */
  after(moment: Moment): boolean;
}
