import { checkLinked, checkSource } from "../runtime/compile.ts";
import { UsageError } from "../runtime/errors.ts";
import { type Diagnostic, fileToJson, hasErrors, renderDiagnostic } from "../source/index.ts";
import { type Command, exitStatus } from "./command.ts";
import { readSource } from "./files.ts";
import { requirePtx } from "./isa-of-file.ts";
import { printJson, type Terminal } from "./terminal.ts";

/** A file with more diagnostics than this shows only the first of them; `--json` has all. */
const most = 100;

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

export function printDiagnostics(diagnostics: readonly Diagnostic[], terminal: Terminal): void {
  for (const diagnostic of diagnostics.slice(0, most)) terminal.out(`${renderDiagnostic(diagnostic, terminal)}\n`);
  const more = diagnostics.length - most;
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
  summary: "parse and check PTX",
  usage: ["check FILE…", "check --link FILE…"],
  options: [
    { name: "link", help: "the files are one program: check the rules between them too" },
    { name: "isa", value: "NAME", help: "ptx or visa, whatever the file's name says" },
  ],
  run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("check: no file given");
    requirePtx(options);
    const target = options.target ?? undefined;
    const sources = options.positionals.map(readSource);
    const diagnostics = options.has("link")
      ? checkLinked(sources, { target })
      : sources.flatMap((source) => checkSource(source, { target }).diagnostics);
    if (options.has("json")) {
      const files = sources.map((source) =>
        fileToJson(
          source,
          diagnostics.filter((d) => d.source === source),
        ),
      );
      printJson({ files }, terminal);
    } else {
      printDiagnostics(diagnostics, terminal);
      terminal.out(summary(sources.length, diagnostics));
    }
    return hasErrors(diagnostics) ? exitStatus.failed : exitStatus.ok;
  },
};
