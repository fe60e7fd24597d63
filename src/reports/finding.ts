import type { Report, StackEntry, ThreadId } from "../machine/reports/report.ts";
import type { Diagnostic, Note, Origin, Severity, SourceText, Span } from "../source/index.ts";

/** A diagnostic of a check or a report of a run, in one form. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly help: string | null;
  readonly source: SourceText;
  readonly span: Span;
  readonly notes: readonly FindingNote[];
  /** Where the program's source has the place, if the program says so. */
  readonly origin: Origin | null;
  /** The function that contains the place, or null. */
  readonly function: string | null;
  /** Details that only reports have. */
  readonly run: RunDetails | null;
}

/** A remark on a finding. */
interface FindingNote extends Note {
  /** Where the program's source has the place of the remark. */
  readonly origin?: Origin | null;
}

interface RunDetails {
  readonly kernel: string;
  readonly threads: readonly ThreadId[];
  readonly count: number;
  readonly stack: readonly StackEntry[];
  readonly location: Report["location"];
}

/** Converts a diagnostic. */
export const findingOfDiagnostic = ({ help, ...d }: Diagnostic): Finding => ({
  code: d.code,
  severity: d.severity,
  message: d.message,
  help: help ?? null,
  source: d.source,
  span: d.span,
  notes: d.notes,
  origin: null,
  function: functionAround(d.source, d.span.start),
  run: null,
});

/** Converts a report. */
export const findingOfReport = ({ help, kernel, threads, count, stack, location, ...r }: Report): Finding => ({
  code: r.code,
  severity: r.severity,
  message: r.message,
  help: help ?? null,
  source: r.source,
  span: r.span,
  // Related places, such as the other access of a race, become notes.
  notes: [
    ...r.notes.map((message) => ({ message })),
    ...(r.related ?? []).map(({ message, source, span, origin = null }) => ({ message, source, span, origin })),
  ],
  origin: r.origin ?? null,
  function: stack[0]?.function ?? kernel,
  run: { kernel, threads, count, stack, location },
});

const directive = /(?:\.(?:visible|weak|extern|common)\s+)*\.(?:entry|func|kernel|function)\b/;

const results = /(?:\([^)]{0,400}\)\s*)?/;

const heading = new RegExp(`^[ \\t]*${directive.source}\\s*${results.source}"?([\\w$%.]+)`, "gm");

const known = new WeakMap<SourceText, readonly { readonly at: number; readonly name: string }[]>();

/** Returns the last function that is declared above a place. It goes by the text: files with errors have no tree. */
function functionAround(source: SourceText, offset: number): string | null {
  let headings = known.get(source);
  if (headings === undefined) {
    headings = [...source.text.matchAll(heading)].map((match) => ({ at: match.index, name: match[1]! }));
    known.set(source, headings);
  }
  let [from, to] = [0, headings.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (headings[middle]!.at <= offset) from = middle + 1;
    else to = middle;
  }
  return headings[from - 1]?.name ?? null;
}
