import { colorStyle, plainStyle, type Style } from "../source/index.ts";
import type { Options } from "./options.ts";

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

function wantsColor(options: Options): boolean {
  const when = options.oneOf("color", ["auto", "always", "never"]) ?? "auto";
  if (when !== "auto") return when === "always";
  // https://no-color.org: any value that is not empty.
  if (process.env["NO_COLOR"]) return false;
  if (process.env["FORCE_COLOR"]) return process.env["FORCE_COLOR"] !== "0";
  return process.stdout.isTTY === true && process.env["TERM"] !== "dumb";
}

/** The terminal that Node runs in. With `--json` prose must not get onto stdout, so it goes to stderr. */
export function openTerminal(options: Options): Terminal {
  return {
    style: wantsColor(options) ? colorStyle : plainStyle,
    width: Math.max(40, Math.min(process.stdout.columns ?? 120, 200)),
    interactive: process.stderr.isTTY === true,
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
  };
}

export const printJson = (value: unknown, terminal: Terminal): void => terminal.out(JSON.stringify(value));
