import { checkPtx } from "../../../src/ptx/check/check.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { type Diagnostic, SourceText } from "../../../src/source/index.ts";

/** The diagnostics of parser and checker for a text. */
export function diagnose(text: string): readonly Diagnostic[] {
  const { tree, diagnostics } = parsePtx(new SourceText("module.ptx", text));
  return [...diagnostics, ...checkPtx(tree).diagnostics];
}

export const errorsOf = (text: string): readonly Diagnostic[] => diagnose(text).filter((d) => d.severity === "error");

export const lineOf = ({ source, span }: Diagnostic): number => source.position(span.start).line;

/** One line for each diagnostic, for the output of failing tests. */
export const lines = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map((d) => `${lineOf(d)} ${d.severity} ${d.code}: ${d.message}`);
