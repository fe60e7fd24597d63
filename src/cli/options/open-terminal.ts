import { colorStyle, plainStyle } from "../../source/index.ts";
import { originReader } from "../terminal/origin-files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Options } from "./options.ts";

function wantsColor(options: Options): boolean {
  const when = options.oneOf("color", ["auto", "always", "never"]) ?? "auto";
  if (when !== "auto") return when === "always";
  // https://no-color.org: any non-empty value.
  if (process.env["NO_COLOR"]) return false;
  if (process.env["FORCE_COLOR"]) return process.env["FORCE_COLOR"] !== "0";
  return process.stdout.isTTY === true && process.env["TERM"] !== "dumb";
}

/** Opens the terminal that Node runs in. With `--json`, prose goes to stderr to keep it off stdout. */
export function openTerminal(options: Options): Terminal {
  return {
    style: wantsColor(options) ? colorStyle : plainStyle,
    width: Math.max(40, Math.min(process.stdout.columns ?? 120, 200)),
    readOrigin: originReader(options.all("source-path")),
    interactive: process.stderr.isTTY === true,
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
  };
}
