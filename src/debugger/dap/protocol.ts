/**
 * Messages of the Debug Adapter Protocol, to the extent that this adapter uses them. Tests check them against its JSON
 * schema.
 */

export interface DapRequest {
  readonly seq: number;
  readonly type: "request";
  readonly command: string;
}

/** The result of a request. */
export interface Answer {
  /**
   * The body of the response. If it is a promise, the response is sent when it resolves, and other requests are handled
   * first.
   */
  readonly body?: object | Promise<object> | undefined;
  /** Called once the response has been sent. */
  readonly afterwards?: () => Promise<void> | void;
}

/** The response to a request. */
export interface DapResponse {
  readonly seq: number;
  readonly type: "response";
  readonly request_seq: number;
  readonly command: string;
  readonly success: boolean;
  readonly message?: string;
  readonly body?: object;
}

/** A message that is not a response. */
export interface DapEvent {
  readonly seq: number;
  readonly type: "event";
  readonly event: string;
  readonly body?: object;
}

export interface DapSource {
  readonly name: string;
  readonly path?: string;
  /** The editor asks for the text by this number. */
  readonly sourceReference?: number;
}

/** The members of an untrusted object, by their expected types. A member of another type counts as absent. */
export class Arguments {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.#members = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  }

  /** Returns a string, or null. */
  string(name: string): string | null {
    const value = this.#members[name];
    return typeof value === "string" ? value : null;
  }

  /** Returns a finite number, or null. */
  number(name: string): number | null {
    const value = this.#members[name];
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  }

  /** Whether a member is true. */
  flag(name: string): boolean {
    return this.#members[name] === true;
  }

  /** Returns the members of an object; none if it is not one. */
  object(name: string): Arguments {
    return new Arguments(this.#members[name]);
  }

  /** Returns the members of each object of a list; none if it is not a list. */
  objects(name: string): readonly Arguments[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value.map((item) => new Arguments(item)) : [];
  }

  /** Returns the strings of a list; none if it is not one. */
  strings(name: string): readonly string[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  }

  /** The names of all members. */
  get names(): readonly string[] {
    return Object.keys(this.#members);
  }

  /** The member as it was received. */
  value(name: string): unknown {
    return this.#members[name];
  }
}

/** The capabilities of the adapter, as the response to `initialize` reports them. */
export const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsEvaluateForHovers: true,
  supportsStepBack: true,
  supportsSetVariable: true,
  supportsRestartRequest: true,
  supportsCancelRequest: true,
  supportsExceptionInfoRequest: true,
  supportTerminateDebuggee: true,
  supportsTerminateRequest: true,
  supportsLogPoints: true,
  supportsLoadedSourcesRequest: true,
  supportsDataBreakpoints: true,
  supportsReadMemoryRequest: true,
  supportsWriteMemoryRequest: true,
  supportsDisassembleRequest: true,
  supportsSteppingGranularity: true,
  supportsInstructionBreakpoints: true,
  supportsSetExpression: true,
  supportsCompletionsRequest: true,
  // The lanes of a group share one position, at which they meet other groups, so none can be moved by hand.
  supportsGotoTargetsRequest: false,
  exceptionBreakpointFilters: [
    {
      filter: "reports",
      label: "Reports of sanitizers",
      description: "Stop before an instruction about which a sanitizer reports something. Faults always stop.",
      default: true,
    },
  ],
} as const;
