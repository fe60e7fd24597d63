import { type Diagnostic, type Note, renderDiagnostic, type SourceText, type Span } from "../source/index.ts";

/** Something was asked of the library that cannot be done: the message says what would be right. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** PTX that was given to `Device.load` has errors; the message shows the first of them. */
export class LoadError extends Error {
  override readonly name = "LoadError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((d) => d.severity === "error");
    const more = errors.length > 1 ? `\n(and ${errors.length - 1} more)` : "";
    super(errors[0] ? `the module has errors\n${renderDiagnostic(errors[0])}${more}` : "the module has errors");
    this.diagnostics = diagnostics;
  }
}

/** An instruction, or a function of the CUDA runtime, that is not modelled. */
export interface Unsupported extends Note {
  /** As in "wmma.load.a.sync.aligned.row.m16n16k16.f16". */
  readonly what: string;
  readonly reason: string;
  readonly source: SourceText;
  readonly span: Span;
}

/** A kernel can reach something that is checked but not executable yet. Nothing has been launched. */
export class NotExecutableError extends Error {
  override readonly name = "NotExecutableError";
  readonly unsupported: readonly Unsupported[];

  constructor(kernel: string, unsupported: readonly Unsupported[]) {
    const [first] = unsupported;
    const place = first ? ` (${first.source.path}:${first.source.position(first.span.start).line})` : "";
    super(`kernel "${kernel}" cannot be run: ${first?.message ?? "it is not executable"}${place}`);
    this.unsupported = unsupported;
  }
}
