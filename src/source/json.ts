import { type Diagnostic, hasErrors } from "./diagnostic.ts";
import type { Position, SourceText, Span } from "./source-text.ts";

/** The range of a span: lines and columns count from 1, the end is exclusive. */
export interface JsonRange {
  readonly start: Position;
  readonly end: Position;
}

/** A diagnostic in the JSON documents of `--json`. */
export interface JsonDiagnostic {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** What would be right. */
  readonly help?: string;
  readonly range: JsonRange;
  /** `path` is present only if the note refers to another file than the diagnostic. */
  readonly notes: readonly { readonly message: string; readonly range?: JsonRange; readonly path?: string }[];
}

/** A file in the document of `lanewise check --json`. `ok`: it has no errors. */
export interface JsonFile {
  readonly path: string;
  readonly ok: boolean;
  readonly diagnostics: readonly JsonDiagnostic[];
}

/** Converts offsets into lines and columns. */
export const rangeToJson = (source: SourceText, span: Span): JsonRange => ({
  start: source.position(span.start),
  end: source.position(span.end),
});

/** Converts a diagnostic for a document in which it stands below its file. */
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

/** Collects the diagnostics of one file. */
export const fileToJson = (source: SourceText, diagnostics: readonly Diagnostic[]): JsonFile => ({
  path: source.path,
  ok: !hasErrors(diagnostics),
  diagnostics: diagnostics.map(diagnosticToJson),
});

/** Converts a diagnostic for a list that mixes several files: the same as `diagnosticToJson`, with the path. */
export const placedDiagnosticToJson = (diagnostic: Diagnostic) => ({
  path: diagnostic.source.path,
  ...diagnosticToJson(diagnostic),
});
