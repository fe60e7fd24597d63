import { Execution } from "../../interpreter/execution.ts";
import type { Observer } from "../../machine/events.ts";
import type { LaunchRequest } from "../../machine/launch.ts";
import type { Program } from "../../program/program.ts";

/** A launch in the interpreter that its caller steps through. */
export interface BegunLaunch {
  /** The launch, before its first instruction. */
  readonly execution: Execution;
  /**
   * Frees what the launch needed besides its arguments, and passes on the output that is still in memory. Call it once,
   * at the end.
   */
  readonly end: () => void;
}

/** Begins such a launch. */
export const beginExecution = (program: Program, request: LaunchRequest, observers: readonly Observer[]): Execution =>
  new Execution(program, request, { observers });
