import type { Moment } from "../interpreter/execution.ts";
import type { Group } from "../machine/state/launch-state.ts";

/**
 * What a debugger looks for while it goes through time. Most basic blocks hold nothing of it, and run as fast as ever; only
 * those that it `wants` are gone through one instruction at a time.
 */
export interface Probe {
  /** Whether it wants to see the instructions of the block at which a group stands. */
  wants(group: Group): boolean;
  /** The instruction is about to be executed: whether this is what is looked for. */
  before(moment: Moment): boolean;
  /** It has been executed: the same, of what `before` saw. */
  after(moment: Moment): boolean;
}
