import { type Diagnostic, hasErrors } from "./diagnostic.ts";
import type { Position, SourceText, Span } from "./source-text.ts";

/** Lines and columns count from 1; the end is exclusive. */
export interface JsonRange {
  readonly start: Position;
  readonly end: Position;
}

export interface JsonDiagnostic {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly help?: string;
  readonly range: JsonRange;
  /** `path` only where the note is about another file. */
  readonly notes: readonly { readonly message: string; readonly range?: JsonRange; readonly path?: string }[];
}

/** One file of `lanewise check --json`. */
export interface JsonFile {
  readonly path: string;
  readonly ok: boolean;
  readonly diagnostics: readonly JsonDiagnostic[];
}

export const rangeToJson = (source: SourceText, span: Span): JsonRange => ({
  start: source.position(span.start),
  end: source.position(span.end),
});

export const diagnosticToJson = (diagnostic: Diagnostic): JsonDiagnostic => ({
  code: diagnostic.code,
  severity: diagnostic.severity,
  message: diagnostic.message,
  ...(diagnostic.help === undefined ? {} : { help: diagnostic.help }),
  range: rangeToJson(diagnostic.source, diagnostic.span),
  notes: diagnostic.notes.map(({ message, source = diagnostic.source, span }) => ({
    message,
    ...(span === undefined ? {} : { range: rangeToJson(source, span) }),
    ...(source.path === diagnostic.source.path ? {} : { path: source.path }),
  })),
});

export const fileToJson = (source: SourceText, diagnostics: readonly Diagnostic[]): JsonFile => ({
  path: source.path,
  ok: !hasErrors(diagnostics),
  diagnostics: diagnostics.map(diagnosticToJson),
});

/** The same where diagnostics of several files stand together. */
export const placedDiagnosticToJson = (diagnostic: Diagnostic) => ({
  path: diagnostic.source.path,
  ...diagnosticToJson(diagnostic),
});
