import type { ReadOrigin, Style } from "../../source/index.ts";

/** The destination of a command's output, and how it looks there. */
export interface Terminal {
  readonly style: Style;
  /** The width in columns. */
  readonly width: number;
  /** Finds the source that programs were compiled from. If absent, it is not shown. */
  readonly readOrigin?: ReadOrigin;
  /** Whether stderr is a terminal that shows progress. */
  readonly interactive: boolean;
  /** Prints a line of the command's result, to stdout. */
  out(text: string): void;
  /** Prints a line of anything else, to stderr. */
  err(text: string): void;
}

export const printJson = (value: unknown, terminal: Terminal): void => terminal.out(JSON.stringify(value));
