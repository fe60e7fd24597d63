import { checkVisaFile } from "../../../src/runtime/visa/check.ts";
import { type Diagnostic, SourceText } from "../../../src/source/index.ts";
import { checkVisa, linkVisa } from "../../../src/visa/check/index.ts";
import type { Platform } from "../../../src/visa/isa/row.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";

export interface Program {
  readonly platform?: Platform | null;
  readonly symbols?: ReadonlySet<string>;
}

/** The diagnostics of parser, checker and linker for the files of one program, given as [path, text]. */
export function diagnoseProgram(
  files: readonly (readonly [string, string])[],
  program: Program = {},
): readonly Diagnostic[] {
  const parsed = files.map(([path, text]) => parseVisa(new SourceText(path, text)));
  const checked = parsed.map(({ tree }) => checkVisa(tree, { platform: program.platform ?? null }));
  const linked = linkVisa(checked, program.symbols === undefined ? {} : { symbols: program.symbols });
  return [...parsed, ...checked, linked].flatMap(({ diagnostics }) => diagnostics);
}

/** The diagnostics for a single text. */
export const diagnose = (text: string, program: Program = {}): readonly Diagnostic[] =>
  diagnoseProgram([["module.visaasm", text]], program);

export const lineOf = ({ source, span }: Diagnostic): number => source.position(span.start).line;

/** One line per diagnostic, for failing tests. */
export const lines = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map((d) => `${lineOf(d)} ${d.severity} ${d.code}: ${d.message}`);

/** The severities and codes for a kernel of one statement, compiled for a platform. */
export function foundIn(target: string, declarations: string, statement: string): string[] {
  const text = `.version 4.1
.kernel "k"
${declarations}
.kernel_attr SimdSize=16
.kernel_attr Target="3d"
.function "k_main"
k_main:
    ${statement}
    ret (M1, 1)
`;
  return checkVisaFile({ path: "k.visaasm", text }, { target }).diagnostics.map((d) => `${d.severity} ${d.code}`);
}
