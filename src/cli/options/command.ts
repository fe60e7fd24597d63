import type { Terminal } from "../terminal/terminal.ts";
import type { CommonOption, Options, OptionSpec } from "./options.ts";

/** What the process tells its caller; docs/cli.md. */
export const exitStatus = { ok: 0, failed: 1, usage: 2, faulted: 3 } as const;
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The ways to call it, without "lanewise". */
  readonly usage: readonly string[];
  /** Beyond the common ones. */
  readonly options: readonly OptionSpec[];
  /** The common options that mean something to it, besides those for its output. */
  readonly common: readonly CommonOption[];
  /** Paragraphs below the options. */
  readonly details?: string;
  run(options: Options, terminal: Terminal): ExitStatus | Promise<ExitStatus>;
}
