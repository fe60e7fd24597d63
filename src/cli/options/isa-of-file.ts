import { UsageError } from "../../runtime/data/errors.ts";
import { type Isa, isaOfName, isas } from "../../runtime/data/isa.ts";
import { readText, shownPath, stdin } from "../terminal/files.ts";
import { isOpenCl } from "./is-opencl.ts";
import type { Options } from "./options.ts";

/** Directives that exist in vISA but not in PTX. */
const visaDirective = /^[ \t]*\.(?:kernel|decl|function|global_function)\b/m;

/**
 * The instruction set of a file: as `--isa` says, else by the ending of its name; a folder and what ocloc writes are
 * vISA. For stdin, under either of its names, the text decides.
 */
export function isaOfFile(options: Options, path: string): Isa {
  const said = options.oneOf("isa", isas);
  if (said !== null) return said;
  if (path !== stdin && path !== shownPath(stdin)) return isaOfName(path) === "visa" || isOpenCl(path) ? "visa" : "ptx";
  return visaDirective.test(readText(stdin).text) ? "visa" : "ptx";
}

/**
 * The instruction set of the files of one program.
 *
 * @throws UsageError if they have different instruction sets
 */
export function isaOfProgram(options: Options, paths: readonly string[]): Isa {
  const [first, ...rest] = paths.map((path) => ({ path, isa: isaOfFile(options, path) }));
  const other = rest.find(({ isa }) => isa !== first?.isa);
  if (first && other) {
    throw new UsageError(`${first.path} is ${first.isa} and ${other.path} is ${other.isa}: they cannot be one program`);
  }
  return first?.isa ?? "ptx";
}

/**
 * Makes sure that all files are PTX. `reason` says why they must be.
 *
 * @throws UsageError if a file or `--isa` says otherwise
 */
export function requirePtx(options: Options, reason: string): void {
  const visa = options.positionals.find((path) => isaOfFile(options, path) === "visa");
  if (visa !== undefined) throw new UsageError(`${shownPath(visa)}: ${reason}`);
}
