/** Messages of the Debug Adapter Protocol, as far as this adapter looks into them. Tests check them against its JSON schema. */

export interface DapRequest {
  readonly seq: number;
  readonly type: "request";
  readonly command: string;
}

/** What comes of a request. */
export interface Answer {
  /** A promise: it is answered later, and others in between. */
  readonly body?: object | Promise<object> | undefined;
  /** What it sets going when it has been answered. */
  readonly afterwards?: () => Promise<void> | void;
}

export interface DapResponse {
  readonly seq: number;
  readonly type: "response";
  readonly request_seq: number;
  readonly command: string;
  readonly success: boolean;
  readonly message?: string;
  readonly body?: object;
}

export interface DapEvent {
  readonly seq: number;
  readonly type: "event";
  readonly event: string;
  readonly body?: object;
}

export interface DapSource {
  readonly name: string;
  readonly path?: string;
  /** Its text is asked for by this number. */
  readonly sourceReference?: number;
}

/** An untrusted object's members, by the types that are expected; anything else is as if it were not there. */
export class Arguments {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.#members = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  }

  string(name: string): string | null {
    const value = this.#members[name];
    return typeof value === "string" ? value : null;
  }

  number(name: string): number | null {
    const value = this.#members[name];
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  }

  flag(name: string): boolean {
    return this.#members[name] === true;
  }

  object(name: string): Arguments {
    return new Arguments(this.#members[name]);
  }

  objects(name: string): readonly Arguments[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value.map((item) => new Arguments(item)) : [];
  }

  strings(name: string): readonly string[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  }

  get names(): readonly string[] {
    return Object.keys(this.#members);
  }

  /** As it came. */
  value(name: string): unknown {
    return this.#members[name];
  }
}

/** What the adapter can do, as the answer to `initialize` says. */
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
  // The lanes of a group have one place, and meet others there: none can be put elsewhere by hand.
  supportsGotoTargetsRequest: false,
  exceptionBreakpointFilters: [
    {
      filter: "reports",
      label: "Reports of sanitizers",
      description: "Stop before an instruction of which a sanitizer reports something. Faults always stop.",
      default: true,
    },
  ],
} as const;
