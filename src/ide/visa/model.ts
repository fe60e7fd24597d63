import { type Diagnostic, SourceText } from "../../source/index.ts";
import { checkVisa } from "../../visa/check/index.ts";
import { parseVisa } from "../../visa/parser/index.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import type { VisaFile } from "../../visa/tree.ts";

/** A file of vISA as text, with its tree and what the checker says of it. */
export interface VisaModel {
  readonly source: SourceText;
  readonly tree: VisaFile;
  readonly routines: readonly BoundRoutine[];
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses and checks a text. */
export function modelOf(path: string, text: string): VisaModel {
  const source = new SourceText(path, text);
  const { tree, diagnostics } = parseVisa(source);
  const checked = checkVisa(tree);
  const all = [...diagnostics, ...checked.diagnostics].sort((a, b) => a.span.start - b.span.start);
  return { source, tree, routines: checked.routines, diagnostics: all };
}
