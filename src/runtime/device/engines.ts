import { Execution } from "../../interpreter/execution.ts";
import { launch } from "../../interpreter/index.ts";
import { JitProgram } from "../../jit/run/jit-program.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { Observer } from "../../machine/events.ts";
import type { LaunchRequest, LaunchResult } from "../../machine/launch.ts";
import type { Program } from "../../program/program.ts";

/** The compiled kernels of a program; `cache` has those that have been compiled before. */
export const compiledProgram = (program: Program, cache: KernelCache | null): JitProgram =>
  new JitProgram(program, null, cache);

/** Runs a kernel in the interpreter, to its end or to the first fault. */
export const interpret = (program: Program, request: LaunchRequest, observers: readonly Observer[]): LaunchResult =>
  launch(program, request, { observers });

/** Begins a launch in the interpreter that its caller steps through. */
export const beginExecution = (program: Program, request: LaunchRequest, observers: readonly Observer[]): Execution =>
  new Execution(program, request, { observers });
