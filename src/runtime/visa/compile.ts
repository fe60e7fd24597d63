import { type CheckedVisa, checkVisa } from "../../visa/check/index.ts";
import { linkVisa } from "../../visa/check/link.ts";
import { readCisa } from "../../visa/cisa/index.ts";
import { type Platform, platforms } from "../../visa/isa/row.ts";
import { lowerVisa } from "../../visa/lower/lower.ts";
import type { DataSymbols } from "../../visa/lower/symbols.ts";
import { parseVisa } from "../../visa/parser/index.ts";
import { printVisa } from "../../visa/printer/index.ts";
import { type Diagnostic, hasErrors, nearest, SourceText } from "../../source/index.ts";
import { UsageError } from "../errors.ts";
import { isCisaName } from "../isa.ts";
import { type SourceFile, textOf } from "../source-file.ts";
import type { KernelInput } from "./handwritten-payload.ts";
import { VisaProgram } from "./program.ts";
import { readZeInfo } from "./zeinfo.ts";

/** How a program of vISA is understood, and what is known of it besides its text. */
export interface VisaOptions {
  /** The platform that it is for, as in "skl"; absent: what its text hints at. */
  readonly target?: string | undefined;
  /** The section `.ze_info` of a compiled program, as the plain objects that a YAML library makes of it. */
  readonly zeinfo?: unknown;
  /** What the inputs of hand-written kernels hold. */
  readonly inputs?: readonly KernelInput[];
  /** The other sections of a compiled program, by name (".data.const"). */
  readonly sections?: ReadonlyMap<string, Uint8Array>;
  /** Names whose address the program takes, and where in a section they lie. */
  readonly symbols?: DataSymbols["symbols"];
}

/** @throws UsageError when there is no such platform */
export function platformOf(name: string): Platform {
  const found = platforms.find((platform) => platform === name.toLowerCase());
  if (found !== undefined) return found;
  const meant = nearest(name.toLowerCase(), platforms);
  throw new UsageError(
    `there is no platform "${name}"${meant ? `; did you mean "${meant}"?` : `; there are ${platforms.join(", ")}`}`,
  );
}

interface CheckedFile extends CheckedVisa {
  readonly source: SourceText;
}

/**
 * Reads and checks one file. A CISA file is read as the text that it stands for, so that every message shows a line.
 * Never throws, and does not stop at the first error.
 *
 * @throws UsageError when `target` names no platform
 */
export function checkVisaFile(file: SourceFile, { target }: VisaOptions = {}): CheckedFile {
  const platform = target === undefined ? null : platformOf(target);
  const read = readText(file);
  if (read.diagnostics !== null) return { source: read.source, routines: [], diagnostics: read.diagnostics };
  const { source } = read;
  const { tree, diagnostics } = parseVisa(source);
  const checked = checkVisa(tree, { platform });
  const all = [...diagnostics, ...checked.diagnostics].sort((a, b) => a.span.start - b.span.start);
  return { source, routines: checked.routines, diagnostics: all };
}

function readText(file: SourceFile): {
  readonly source: SourceText;
  readonly diagnostics: readonly Diagnostic[] | null;
} {
  const bytes = file.bytes;
  if (bytes === undefined || !isCisaName(file.path)) {
    return { source: new SourceText(file.path, textOf(file)), diagnostics: null };
  }
  const { tree, diagnostics } = readCisa(bytes, file.path);
  if (tree === null || hasErrors(diagnostics)) {
    return { source: diagnostics[0]?.source ?? new SourceText(file.path, ""), diagnostics };
  }
  return { source: new SourceText(file.path, printVisa(tree)), diagnostics: null };
}

interface LinkedVisa extends CheckedVisa {
  readonly files: readonly CheckedFile[];
}

/** The files as one program: what is wrong with each, and, when nothing is, between them. */
export function linkVisaFiles(files: readonly SourceFile[], options: VisaOptions = {}): LinkedVisa {
  const checked = files.map((file) => checkVisaFile(file, options));
  const diagnostics = checked.flatMap((file) => file.diagnostics);
  const routines = checked.flatMap((file) => file.routines);
  if (hasErrors(diagnostics)) return { files: checked, routines, diagnostics };
  const linked = linkVisa(checked, { symbols: new Set(options.symbols?.keys() ?? []) });
  return { files: checked, routines: linked.routines, diagnostics: [...diagnostics, ...linked.diagnostics] };
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
  const symbols: DataSymbols = { sections: options.sections ?? new Map(), symbols: options.symbols ?? new Map() };
  const ir = lowerVisa(routines, { symbols });
  return { program: new VisaProgram(ir, routines, { kernels, inputs: options.inputs ?? [] }), diagnostics };
}
