import { UsageError } from "../../runtime/data/errors.ts";
import { type Diagnostic, fileToJson, renderDiagnostic } from "../../source/index.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { findingOptions, Findings } from "../options/findings.ts";
import { moduleOption, packedFiles } from "../options/program-options.ts";
import { checkFiles, checkProgram } from "../runs/checked-files.ts";
import { allProgramTexts } from "../runs/program-files.ts";
import { readableDiagnostic } from "../terminal/readable-diagnostic.ts";
import { plural } from "../terminal/numbers.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";

/** The most diagnostics shown; `--json` has all. */
const maxFindings = 100;

export function printDiagnostics(diagnostics: readonly Diagnostic[], terminal: Terminal): void {
  for (const diagnostic of diagnostics.slice(0, maxFindings))
    terminal.out(`${renderDiagnostic(readableDiagnostic(diagnostic), terminal)}\n`);
  const more = diagnostics.length - maxFindings;
  if (more > 0) terminal.out(`... and ${more} more; --json lists all\n`);
}

function summary(files: number, diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((d) => d.severity === "error").length;
  const warnings = diagnostics.length - errors;
  const found = [
    ...(errors > 0 ? [plural(errors, "error")] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
  ].join(" and ");
  return `${plural(files, "file")} checked, ${found || "no errors"}`;
}

export const check: Command = {
  name: "check",
  summary: "parse and check PTX and vISA",
  usage: ["check FILE…", "check --link FILE…"],
  options: [
    { name: "link", help: "the files are one program: check the rules between them too" },
    { name: "isa", value: "NAME", help: "ptx or visa (default: by the file's name)" },
    moduleOption,
    ...findingOptions,
  ],
  common: ["target"],
  details: `Files: .ptx; .visaasm and .isaasm (vISA text), .isa (binary vISA, which is disassembled first). Also ${packedFiles}; all modules in them are checked. With --link the files of a vISA program are its kernel and the functions that it calls.`,
  async run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("check: no file given");
    const isProgram = options.has("link");
    const files = await allProgramTexts(options, !isProgram);
    const findings = new Findings(options, terminal);
    const { sources, diagnostics: all } = await (isProgram ? checkProgram : checkFiles)(files, options);
    const diagnostics = findings.addDiagnostics(all, sources);
    await findings.finish({ of: "check", completed: true }, terminal);
    if (options.has("json")) {
      const checked = sources.map((source) =>
        fileToJson(
          source,
          diagnostics.filter((d) => d.source === source),
        ),
      );
      printJson({ files: checked }, terminal);
    } else {
      printDiagnostics(diagnostics, terminal);
      terminal.out(summary(sources.length, diagnostics));
    }
    return diagnostics.some((d) => findings.counts(d.severity)) ? exitStatus.failed : exitStatus.ok;
  },
};
