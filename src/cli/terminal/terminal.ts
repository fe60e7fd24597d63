import type { Style } from "../../source/index.ts";

/** Where a command's output goes, and how it looks there. */
export interface Terminal {
  readonly style: Style;
  /** Columns. */
  readonly width: number;
  /** Whether stderr is a terminal that shows progress. */
  readonly interactive: boolean;
  /** The command's product. */
  out(text: string): void;
  /** Everything else. */
  err(text: string): void;
}

export const printJson = (value: unknown, terminal: Terminal): void => terminal.out(JSON.stringify(value));
