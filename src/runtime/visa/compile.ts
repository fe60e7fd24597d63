import { type Diagnostic, hasErrors } from "../../source/index.ts";
import { lowerVisa } from "../../visa/lower/lower.ts";
import type { DataRelocation } from "../../visa/lower/symbols.ts";
import type { SourceFile } from "../data/source-file.ts";
import { type CheckOptions, linkVisaFiles } from "./check.ts";
import type { KernelInput } from "./handwritten-payload.ts";
import { loadedData } from "./program-data.ts";
import { VisaProgram } from "./program.ts";
import { readZeInfo } from "./zeinfo.ts";

/** How a program of vISA is understood, and what is known of it besides its text. */
export interface VisaOptions extends CheckOptions {
  /** The section `.ze_info` of a compiled program, as the plain objects that a YAML library makes of it. */
  readonly zeinfo?: unknown;
  /** What the inputs of hand-written kernels hold. */
  readonly inputs?: readonly KernelInput[];
  /** The other sections of a compiled program, by name (".data.const"). */
  readonly sections?: ReadonlyMap<string, Uint8Array>;
  /** Where sections hold addresses: of routines, or of names in `symbols`. */
  readonly relocations?: readonly DataRelocation[];
}

/**
 * From files to a program that can be launched; null when there are errors.
 *
 * @throws UsageError when `target` names no platform, or what is said about the program makes no sense
 */
export function compileVisa(
  files: readonly SourceFile[],
  options: VisaOptions = {},
): { readonly program: VisaProgram | null; readonly diagnostics: readonly Diagnostic[] } {
  const kernels = options.zeinfo === undefined ? null : readZeInfo(options.zeinfo);
  const { routines, diagnostics } = linkVisaFiles(files, options);
  if (hasErrors(diagnostics) || routines.length === 0) return { program: null, diagnostics };
  const { sections = new Map(), symbols = new Map(), relocations = [] } = options;
  const data = loadedData({ sections, symbols, relocations }, new Set(routines.map(({ name }) => name)));
  const ir = lowerVisa(routines, { symbols: data });
  return { program: new VisaProgram(ir, routines, { kernels, inputs: options.inputs ?? [] }), diagnostics };
}
