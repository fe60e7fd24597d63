import type { SourceText, Span } from "./source-text.ts";

/** How serious a finding is. */
export type Severity = "error" | "warning";

/** A remark that belongs to a diagnostic, with or without a place of its own. */
export interface Note {
  /** The remark, in lower case and without a full stop. */
  readonly message: string;
  /** The text that `span` refers to; if absent, the diagnostic's own. */
  readonly source?: SourceText;
  /** The place that the remark is about; a remark without one is plain text. */
  readonly span?: Span;
}

/** An error or a warning about a source text. */
export interface Diagnostic {
  /** A stable name such as "unknown-modifier"; it has a page in the catalogue that `lanewise explain` shows. */
  readonly code: string;
  readonly severity: Severity;
  /** What is wrong, in lower case and without a full stop. */
  readonly message: string;
  /** What would be right. */
  readonly help?: string;
  /** The text that `span` refers to. */
  readonly source: SourceText;
  /** The smallest part of the text that is wrong. */
  readonly span: Span;
  /** Remarks that explain it, such as the place of a conflicting declaration. */
  readonly notes: readonly Note[];
}

/** The catalogue page of a diagnostic or report code. */
export interface CodePage {
  /** One line: what the code means. */
  readonly title: string;
  /** A few paragraphs of plain text: why it is wrong, what the manual says, how to fix it. */
  readonly page: string;
  /** The section of the vendor's manual that says so, as in "9.7.12.5". */
  readonly section?: string;
  /** A short program that provokes the diagnostic, and one that does not. */
  readonly example?: { readonly bad: string; readonly good: string };
}

/** Pages by code. */
export type Catalogue = Readonly<Record<string, CodePage>>;

/** The optional parts of a diagnostic. */
export interface DiagnosticDetails {
  /** What would be right. */
  readonly help?: string | undefined;
  /** Remarks that explain the diagnostic. */
  readonly notes?: readonly Note[];
}

/**
 * Collects the diagnostics of one source text. `Code` is the union of the codes in the catalogue of the room that
 * reports them.
 */
export class DiagnosticSink<Code extends string = string> {
  /** The text that the diagnostics are about. */
  source: SourceText;
  /** The diagnostics so far, in the order in which they were reported. */
  readonly diagnostics: Diagnostic[] = [];
  /**
   * The most diagnostics that are kept (10 000 by default). The rest are counted in `dropped`, so that hostile input
   * cannot exhaust memory.
   */
  readonly limit: number;
  /** How many diagnostics were discarded after `limit` was reached. */
  dropped = 0;

  constructor(source: SourceText, limit = 10_000) {
    this.source = source;
    this.limit = limit;
  }

  /**
   * Whether further diagnostics are discarded: callers can then skip expensive work such as looking for suggestions.
   */
  get full(): boolean {
    return this.diagnostics.length >= this.limit;
  }

  /** The text that a span belongs to: where the diagnostics are about several, that of its node. */
  sourceOf(_span: Span): SourceText {
    return this.source;
  }

  /** Adds a diagnostic that was made before. */
  repeat(diagnostic: Diagnostic): void {
    if (this.full) this.dropped++;
    else this.diagnostics.push(diagnostic);
  }

  /** Adds an error at `span`. */
  error(code: Code, span: Span, message: string, details?: DiagnosticDetails): void {
    this.#add("error", code, span, message, details);
  }

  /** Adds a warning at `span`. */
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
      source: this.sourceOf(span),
      span: { start: span.start, end: span.end },
      notes: details.notes ?? [],
    });
  }
}

/** Whether any of the diagnostics is an error rather than a warning. */
export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((d) => d.severity === "error");
