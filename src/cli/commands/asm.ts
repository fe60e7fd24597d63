import { UsageError } from "../../runtime/data/errors.ts";
import { isCisaName } from "../../runtime/data/isa.ts";
import { platformOf } from "../../runtime/visa/check.ts";
import { type Diagnostic, fileToJson, hasErrors, renderDiagnostic, type SourceText } from "../../source/index.ts";
import { bindVisa, checkVisa } from "../../visa/check/index.ts";
import { writeCisa } from "../../visa/cisa/index.ts";
import { parseVisa } from "../../visa/parser/index.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import { type Command, exitStatus } from "../options/command.ts";
import type { Options } from "../options/options.ts";
import { readSource, writeBytes } from "../terminal/files.ts";
import { printJson } from "../terminal/terminal.ts";

interface Assembled {
  readonly routines: readonly BoundRoutine[];
  readonly diagnostics: readonly Diagnostic[];
}

function readText(path: string): SourceText {
  if (isCisaName(path)) throw new UsageError(`asm: ${path} is a CISA file already; lanewise disasm makes a text of it`);
  if (/\.ptx$/i.test(path)) throw new UsageError(`asm: ${path} is PTX; only vISA has a binary form here`);
  return readSource(path);
}

function assemble(source: SourceText, options: Options): Assembled {
  const platform = options.target === null ? null : platformOf(options.target);
  const { tree, diagnostics } = parseVisa(source);
  if (options.has("no-check")) {
    const routines = bindVisa(tree, { platform });
    return { routines, diagnostics: [...diagnostics, ...routines.flatMap((routine) => routine.diagnostics)] };
  }
  const checked = checkVisa(tree, { platform });
  return { routines: checked.routines, diagnostics: [...diagnostics, ...checked.diagnostics] };
}

export const asm: Command = {
  name: "asm",
  summary: "assemble vISA text into a CISA file",
  usage: ["asm IN.visaasm… -o OUT.isa"],
  options: [
    { name: "output", short: "o", value: "FILE", file: "written", help: "where the CISA file goes" },
    { name: "no-check", help: "only resolve names, and allow instructions that break the rules" },
  ],
  common: ["target"],
  details:
    "All files are one program: kernels and the functions that they call. The file has version 3.6 of the format, whatever the text's .version says; what that cannot hold is an error. Nothing is written if there are errors.",
  run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("asm: no file given");
    const output = options.value("output");
    if (output === null) throw new UsageError("asm: say where the CISA file goes, with -o OUT.isa");
    const sources = options.positionals.map(readText);
    const parts = sources.map((source) => assemble(source, options));
    const found = parts.flatMap((part) => part.diagnostics);
    const written = hasErrors(found) ? null : writeCisa(parts.flatMap((part) => part.routines));
    const diagnostics = [...found, ...(written?.diagnostics ?? [])];
    const bytes = written?.bytes ?? null;
    if (bytes !== null) writeBytes(output, bytes);
    if (options.has("json")) {
      const files = sources.map((source) =>
        fileToJson(
          source,
          diagnostics.filter((d) => d.source === source),
        ),
      );
      printJson({ ok: bytes !== null, ...(bytes && { output, size: bytes.length }), files }, terminal);
    } else {
      for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    }
    return bytes === null ? exitStatus.failed : exitStatus.ok;
  },
};
