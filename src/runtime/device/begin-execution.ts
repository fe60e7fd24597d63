import { Execution } from "../../interpreter/execution.ts";
import type { Observer } from "../../machine/events.ts";
import type { LaunchRequest } from "../../machine/launch.ts";
import type { Program } from "../../program/program.ts";

/** Begins a launch in the interpreter that its caller steps through. */
export const beginExecution = (program: Program, request: LaunchRequest, observers: readonly Observer[]): Execution =>
  new Execution(program, request, { observers });
