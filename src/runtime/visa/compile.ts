import { type Diagnostic, hasErrors } from "../../source/index.ts";
import { lowerVisa } from "../../visa/lower/lower.ts";
import type { DataRelocation } from "../../visa/lower/symbols.ts";
import type { SourceFile } from "../data/source-file.ts";
import { type CheckOptions, linkVisaFiles } from "./check.ts";
import type { KernelInput } from "./handwritten-payload.ts";
import { loadedData } from "./program-data.ts";
import { VisaProgram } from "./program.ts";
import { readZeInfo } from "./zeinfo.ts";

/** How a vISA program is interpreted, and what is known about it besides its text. */
export interface VisaOptions extends CheckOptions {
  /**
   * The section `.ze_info` of a compiled program, parsed from YAML into plain objects. A kernel without it needs
   * `inputs`.
   */
  readonly zeinfo?: unknown;
  /** The contents of the inputs of hand-written kernels. Default: none. */
  readonly inputs?: readonly KernelInput[];
  /** The other sections of a compiled program, by name (".data.const"). */
  readonly sections?: ReadonlyMap<string, Uint8Array>;
  /** The places in sections that hold addresses of routines or of names in `symbols`. */
  readonly relocations?: readonly DataRelocation[];
}

/**
 * Compiles files into a program that can be launched. The program is null if there are errors.
 *
 * @throws UsageError if `target` names no platform, or the options contradict the program
 */
export function compileVisa(
  files: readonly SourceFile[],
  options: VisaOptions = {},
): { readonly program: VisaProgram | null; readonly diagnostics: readonly Diagnostic[] } {
  const kernels = options.zeinfo === undefined ? null : readZeInfo(options.zeinfo);
  const { routines, diagnostics } = linkVisaFiles(files, { ...options, toRun: true });
  if (hasErrors(diagnostics) || routines.length === 0) return { program: null, diagnostics };
  const { sections = new Map(), symbols = new Map(), relocations = [] } = options;
  const data = loadedData({ sections, symbols, relocations }, new Set(routines.map(({ name }) => name)));
  const ir = lowerVisa(routines, { symbols: data });
  return { program: new VisaProgram(ir, routines, { kernels, inputs: options.inputs ?? [] }), diagnostics };
}
