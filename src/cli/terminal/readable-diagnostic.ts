import { readable } from "../../names/index.ts";
import type { Diagnostic } from "../../source/index.ts";

/**
 * A diagnostic whose messages have the names of C++ instead of mangled ones. Parameters keep theirs, which are PTX's
 * own, and so does the help, which says what to write.
 */
export const readableDiagnostic = (d: Diagnostic): Diagnostic => ({
  ...d,
  message: inDiagnostic(d.message),
  notes: d.notes.map((note) => ({ ...note, message: inDiagnostic(note.message) })),
});

const inDiagnostic = (message: string): string =>
  message
    .split(/(_Z\w+_param_\d+)/)
    .map((part, i) => (i % 2 === 1 ? part : readable(part)))
    .join("");
