import type { SourceText, Span } from "./source-text.ts";

export type Severity = "error" | "warning";

/** A second place or a remark that belongs to a diagnostic. */
export interface Note {
  readonly message: string;
  readonly source?: SourceText;
  readonly span?: Span;
}

/**
 * What is wrong (`message`: lower case, no full stop), where (`span`: the smallest that is wrong), and what would be
 * right (`help`). `code` is stable and has a page in the catalogue that `lanewise explain` shows.
 */
export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly help?: string;
  readonly source: SourceText;
  readonly span: Span;
  readonly notes: readonly Note[];
}

/** The page of a diagnostic or report code. */
export interface CodePage {
  /** One line: what the code means. */
  readonly title: string;
  /** Some paragraphs of plain text: why it is wrong, what the manual says, how to mend it. */
  readonly page: string;
  /** Where the manual says so, as in "9.7.12.5". */
  readonly section?: string;
  /** A short text that provokes the diagnostic, and one that does not. */
  readonly example?: { readonly bad: string; readonly good: string };
}

export type Catalogue = Readonly<Record<string, CodePage>>;

export interface DiagnosticDetails {
  readonly help?: string | undefined;
  readonly notes?: readonly Note[];
}

/** Collects the diagnostics of one source text. `Code` is the union of the codes of the catalogue that the room owns. */
export class DiagnosticSink<Code extends string = string> {
  readonly source: SourceText;
  readonly diagnostics: Diagnostic[] = [];
  /** Beyond this many, further diagnostics are counted and dropped, so that hostile input cannot exhaust memory. */
  readonly limit: number;
  dropped = 0;

  constructor(source: SourceText, limit = 10_000) {
    this.source = source;
    this.limit = limit;
  }

  /** More are dropped, so that nobody need think about what to suggest. */
  get full(): boolean {
    return this.diagnostics.length >= this.limit;
  }

  error(code: Code, span: Span, message: string, details?: DiagnosticDetails): void {
    this.#add("error", code, span, message, details);
  }

  warning(code: Code, span: Span, message: string, details?: DiagnosticDetails): void {
    this.#add("warning", code, span, message, details);
  }

  #add(severity: Severity, code: Code, span: Span, message: string, details: DiagnosticDetails = {}): void {
    if (this.full) {
      this.dropped++;
      return;
    }
    this.diagnostics.push({
      code,
      severity,
      message,
      ...(details.help === undefined ? {} : { help: details.help }),
      source: this.source,
      span: { start: span.start, end: span.end },
      notes: details.notes ?? [],
    });
  }
}

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((d) => d.severity === "error");
