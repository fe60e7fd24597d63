import { type Diagnostic, hasErrors, nearest, SourceText } from "../../source/index.ts";
import { type CheckedVisa, checkVisa } from "../../visa/check/index.ts";
import { linkVisa } from "../../visa/check/link.ts";
import { readCisa } from "../../visa/cisa/index.ts";
import { type Platform, platforms } from "../../visa/isa/row.ts";
import type { DataSymbols } from "../../visa/lower/symbols.ts";
import { parseVisa } from "../../visa/parser/index.ts";
import { printVisa } from "../../visa/printer/index.ts";
import { UsageError } from "../data/errors.ts";
import { isCisaName } from "../data/isa.ts";
import { type SourceFile, textOf } from "../data/source-file.ts";

/** How vISA files are interpreted. */
export interface CheckOptions {
  /** The platform to check for, as in "skl". Default: the one that the text hints at. */
  readonly target?: string | undefined;
  /** The names whose addresses the program takes, with their places in sections. */
  readonly symbols?: DataSymbols["symbols"];
  /** Whether the files are to be run, which lets some errors pass as warnings (`LinkVisaOptions`). */
  readonly toRun?: boolean;
}

/** Finds a platform by its name, in any case; null if there is none. */
export const findPlatform = (name: string): Platform | null =>
  platforms.find((platform) => platform === name.toLowerCase()) ?? null;

/**
 * Finds a platform by its name, in any case.
 *
 * @throws UsageError if there is no such platform
 */
export function platformOf(name: string): Platform {
  const found = findPlatform(name);
  if (found !== null) return found;
  const meant = nearest(name.toLowerCase(), platforms);
  throw new UsageError(
    `there is no platform "${name}"${meant ? `; did you mean "${meant}"?` : `; there are ${platforms.join(", ")}`}`,
  );
}

interface CheckedFile extends CheckedVisa {
  readonly source: SourceText;
}

/**
 * Reads and checks one file. A CISA file is converted to text first, so that every message can show a line. Checking
 * does not stop at the first error.
 *
 * @throws UsageError if `target` names no platform, or the file is binary and not CISA
 */
export function checkVisaFile(file: SourceFile, { target }: CheckOptions = {}): CheckedFile {
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

/** Checks files as one program: each for itself, and then, if none has errors, how they fit together. */
export function linkVisaFiles(files: readonly SourceFile[], options: CheckOptions = {}): LinkedVisa {
  const checked = files.map((file) => checkVisaFile(file, options));
  const diagnostics = checked.flatMap((file) => file.diagnostics);
  const routines = checked.flatMap((file) => file.routines);
  if (hasErrors(diagnostics)) return { files: checked, routines, diagnostics };
  const linked = linkVisa(checked, {
    symbols: new Set(options.symbols?.keys() ?? []),
    toRun: options.toRun ?? false,
  });
  return { files: checked, routines: linked.routines, diagnostics: [...diagnostics, ...linked.diagnostics] };
}
