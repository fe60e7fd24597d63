import type { LoadError } from "../../runtime/data/errors.ts";
import { placedDiagnosticToJson, renderDiagnostic } from "../../source/index.ts";
import { readableDiagnostic } from "./readable-diagnostic.ts";
import { printJson, type Terminal } from "./terminal.ts";

/** Prints the errors of a program. */
export function printLoadError({ diagnostics }: LoadError, json: boolean, terminal: Terminal): void {
  const errors = diagnostics.filter((d) => d.severity === "error");
  for (const d of errors) terminal.err(renderDiagnostic(readableDiagnostic(d), terminal));
  if (!json) return;
  printJson({ ok: false, error: "the program has errors", diagnostics: errors.map(placedDiagnosticToJson) }, terminal);
}
