import type { LaunchResult } from "../../machine/launch.ts";

/** A launch that is left to the interpreter. */
export interface LeftToInterpreter {
  readonly why: string;
  /** The number of the launch, where compiled code has run it before and it was undone. */
  readonly id?: number;
  /** Is told what the interpreter has found. */
  readonly found: (reports: LaunchResult["reports"]) => void;
}

export const left = (why: string): LeftToInterpreter => ({ why, found: () => {} });
