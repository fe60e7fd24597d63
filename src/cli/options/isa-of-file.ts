import { UsageError } from "../../runtime/data/errors.ts";
import { type Isa, isaOfName, isas } from "../../runtime/data/isa.ts";
import { readText, shownPath, stdin } from "../terminal/files.ts";
import type { Options } from "./options.ts";

/** Directives that vISA has and PTX has not. */
const visaDirective = /^[ \t]*\.(?:kernel|decl|function|global_function)\b/m;

/**
 * What a file holds: as `--isa` says, or as its name ends; stdin has none, by whichever of its names, so its text
 * tells.
 */
export function isaOfFile(options: Options, path: string): Isa {
  const said = options.oneOf("isa", isas);
  if (said !== null || (path !== stdin && path !== shownPath(stdin))) return said ?? isaOfName(path);
  return visaDirective.test(readText(stdin).text) ? "visa" : "ptx";
}

/**
 * What the files of one program hold.
 *
 * @throws UsageError where they are of different instruction sets
 */
export function isaOfProgram(options: Options, paths: readonly string[]): Isa {
  const [first, ...rest] = paths.map((path) => ({ path, isa: isaOfFile(options, path) }));
  const other = rest.find(({ isa }) => isa !== first?.isa);
  if (first && other) {
    throw new UsageError(`${first.path} is ${first.isa} and ${other.path} is ${other.isa}: they are no one program`);
  }
  return first?.isa ?? "ptx";
}

/**
 * `reason`: why it has to be PTX.
 *
 * @throws UsageError where a file, or `--isa`, asks for another
 */
export function requirePtx(options: Options, reason: string): void {
  const visa = options.positionals.find((path) => isaOfFile(options, path) === "visa");
  if (visa !== undefined) throw new UsageError(`${shownPath(visa)}: ${reason}`);
}
