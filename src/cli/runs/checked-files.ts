import { type SourceFile, textOf } from "../../runtime/data/source-file.ts";
import { type Diagnostic, SourceText } from "../../source/index.ts";
import { isaOfFile, isaOfProgram } from "../options/isa-of-file.ts";
import type { Options } from "../options/options.ts";

interface CheckedFiles {
  /** In the order of the files; what diagnostics point into. */
  readonly sources: readonly SourceText[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What stands in the text of PTX files and vISA files, each checked for itself. */
export async function checkFiles(files: readonly SourceFile[], options: Options): Promise<CheckedFiles> {
  const target = options.target ?? undefined;
  const sources: SourceText[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const file of files) {
    if (isaOfFile(options, file.path) === "visa") {
      const { checkVisaFile } = await visaCompiler();
      const checked = checkVisaFile(file, { target });
      sources.push(checked.source);
      diagnostics.push(...checked.diagnostics);
    } else {
      const { checkSource } = await ptxCompiler();
      const source = ptxSource(file);
      sources.push(source);
      diagnostics.push(...checkSource(source, { target: options.target ?? undefined }).diagnostics);
    }
  }
  return { sources, diagnostics };
}

/** The same for files that are one program, with what is wrong between them. */
export async function checkProgram(files: readonly SourceFile[], options: Options): Promise<CheckedFiles> {
  const paths = files.map(({ path }) => path);
  if (isaOfProgram(options, paths) === "ptx") {
    const { checkLinked } = await ptxCompiler();
    const sources = files.map(ptxSource);
    return { sources, diagnostics: checkLinked(sources, { target: options.target ?? undefined }) };
  }
  const { linkVisaFiles } = await visaCompiler();
  const linked = linkVisaFiles(files, { target: options.target ?? undefined });
  return { sources: linked.files.map(({ source }) => source), diagnostics: linked.diagnostics };
}

const ptxSource = (file: SourceFile): SourceText => new SourceText(file.path, textOf(file));

// Loaded where they are needed: each starts faster without the other.
const ptxCompiler = () => import("../../runtime/device/compile.ts");

const visaCompiler = () => import("../../runtime/visa/check.ts");
