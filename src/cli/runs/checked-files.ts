import { type SourceFile, textOf } from "../../runtime/data/source-file.ts";
import { type Diagnostic, SourceText } from "../../source/index.ts";
import { isaOfFile, isaOfProgram } from "../options/isa-of-file.ts";
import type { Options } from "../options/options.ts";

interface CheckedFiles {
  /** The sources that diagnostics refer to, in the order of the files. */
  readonly sources: readonly SourceText[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks PTX and vISA files, each by itself. Where there are both, a target is for those to which it belongs. */
export async function checkFiles(files: readonly SourceFile[], options: Options): Promise<CheckedFiles> {
  const isas = new Set(files.map(({ path }) => isaOfFile(options, path)));
  // Null: there is but one.
  const isaOfTarget = isas.size < 2 ? null : (await isPlatform(options.target)) ? "visa" : "ptx";
  const targetFor = (isa: "ptx" | "visa"): string | undefined =>
    isaOfTarget === null || isaOfTarget === isa ? (options.target ?? undefined) : undefined;
  const sources: SourceText[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const file of files) {
    if (isaOfFile(options, file.path) === "visa") {
      const { checkVisaFile } = await visaCompiler();
      const checked = checkVisaFile(file, { target: targetFor("visa") });
      sources.push(checked.source);
      diagnostics.push(...checked.diagnostics);
    } else {
      const { checkSource } = await ptxCompiler();
      const source = ptxSource(file);
      sources.push(source);
      diagnostics.push(...checkSource(source, { target: targetFor("ptx") }).diagnostics);
    }
  }
  return { sources, diagnostics };
}

async function isPlatform(target: string | null): Promise<boolean> {
  const { findPlatform } = await visaCompiler();
  return target !== null && findPlatform(target) !== null;
}

/** Checks the files of one program, including how they fit together. */
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

// Loaded on demand: each instruction set starts faster without the other.
const ptxCompiler = () => import("../../runtime/device/compile.ts");

const visaCompiler = () => import("../../runtime/visa/check.ts");
