import type { Diagnostic, SourceText } from "../../source/index.ts";
import type { Finding } from "./results.ts";

/** A diagnostic as a finding in a file. `offset`: the place in the file of an offset in one of its texts. */
export function findingOf(
  { source, span, severity, code, message, help, notes }: Diagnostic,
  uri: string,
  offset: (of: SourceText, at: number) => number,
): Finding {
  const between = (of: SourceText, { start, end }: { start: number; end: number }) => ({
    start: offset(of, start),
    end: offset(of, end),
  });
  return {
    ...between(source, span),
    severity,
    code,
    message,
    help: help ?? null,
    notes: notes.map((note) => ({
      message: note.message,
      place: note.span === undefined ? null : { uri, ...between(note.source ?? source, note.span) },
    })),
  };
}
