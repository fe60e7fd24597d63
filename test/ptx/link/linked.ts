import { type CheckedModule, checkPtx } from "../../../src/ptx/check/check.ts";
import { type LinkedProgram, linkPtx } from "../../../src/ptx/link/resolve.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { isProvided } from "../../../src/runtime/launch/provided-names.ts";
import { type Diagnostic, SourceText } from "../../../src/source/index.ts";

export const header = ".version 9.0\n.target sm_90\n.address_size 64\n";

export const sourcesOf = (texts: readonly string[]): SourceText[] =>
  texts.map((text, i) => new SourceText(`${"abcdefghij"[i]}.ptx`, text));

/** Checks modules, which must have no errors. */
export function checked(sources: readonly SourceText[]): CheckedModule[] {
  return sources.map((source) => {
    const { tree, diagnostics } = parsePtx(source);
    const module = checkPtx(tree);
    const errors = [...diagnostics, ...module.diagnostics].filter((d) => d.severity === "error");
    if (errors.length > 0) throw new Error(`${source.path} is wrong by itself: ${lines(errors).join("; ")}`);
    return module;
  });
}

export const linked = (texts: readonly string[]): LinkedProgram => linkPtx(checked(sourcesOf(texts)), isProvided);

/** One line for each diagnostic, for the output of failing tests. */
export const lines = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(
    ({ source, span, severity, code, message }) =>
      `${source.path}:${source.position(span.start).line} ${severity} ${code}: ${message}`,
  );
