import type { Terminal } from "../terminal/terminal.ts";
import type { CommonOption, Options, OptionSpec } from "./options.ts";

/** The exit statuses of the process; see docs/cli.md. */
export const exitStatus = { ok: 0, failed: 1, usage: 2, faulted: 3, interrupted: 130 } as const;
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The ways to call it, without "lanewise". */
  readonly usage: readonly string[];
  /** The options that other commands do not have. */
  readonly options: readonly OptionSpec[];
  /** The common options that affect the command, besides those for output. */
  readonly common: readonly CommonOption[];
  /** Whether what follows the first positional is for somebody else: a program and its own options. */
  readonly passesOn?: boolean;
  /** Whether it runs kernels that V8 may still be optimizing when the command is done. */
  readonly runsKernels?: boolean;
  /** Paragraphs shown below the options. */
  readonly details?: string;
  run(options: Options, terminal: Terminal): ExitStatus | Promise<ExitStatus>;
}
