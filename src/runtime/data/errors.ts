import { type Diagnostic, renderDiagnostic, renderPlace, type SourceText, type Span } from "../../source/index.ts";

/**
 * The library was asked for something that it cannot do. The message says what is wrong and, if possible, what would be
 * right.
 */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/**
 * Runs `attempt`, turning a RangeError (something does not fit) into the UsageError that callers of the library expect.
 */
export function fitting<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

/** A file is not a valid `.npy` file, or holds data that kernels cannot work on. */
export class NumpyError extends Error {
  override readonly name = "NumpyError";
}

/**
 * The program given to `Device.load` has errors. The message shows the first of them; `diagnostics` holds all errors
 * and warnings.
 */
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

/**
 * A kernel may reach an instruction that can be checked but not executed yet. Nothing has been launched. `source` and
 * `span` (offsets into its text) say where the instruction is.
 */
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

/** A kernel cannot be launched without Lanewise. The message says why. */
export class NotStandaloneError extends UsageError {
  override readonly name = "NotStandaloneError";

  constructor(kernel: string, why: string) {
    super(`kernel "${kernel}" cannot stand alone: ${why}`);
  }
}
