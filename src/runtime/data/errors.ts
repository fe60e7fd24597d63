import { type Diagnostic, renderDiagnostic, renderPlace, type SourceText, type Span } from "../../source/index.ts";

/** Something was asked of the library that cannot be done: the message says what would be right. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** Runs what throws a RangeError where something does not fit; to callers of the library that is a UsageError. */
export function fitting<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

/** A `.npy` file is none, or holds what kernels cannot work on. */
export class NumpyError extends Error {
  override readonly name = "NumpyError";
}

/** What was given to `Device.load` has errors; the message shows the first of them. */
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

/** A kernel can reach something that is checked but not executable yet. Nothing has been launched. */
export class NotExecutableError extends Error {
  override readonly name = "NotExecutableError";
  readonly source: SourceText;
  /** The instruction that cannot be executed. */
  readonly span: Span;

  constructor(kernel: string, reason: string, place: { readonly source: SourceText; readonly span: Span }) {
    super(`kernel "${kernel}" cannot be run: ${reason} (${renderPlace(place.source, place.span)})`);
    this.source = place.source;
    this.span = place.span;
  }
}
