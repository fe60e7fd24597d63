import { DebuggerError } from "../location.ts";
import type { SourceChoice } from "./shown-source.ts";
import type { Session } from "../session.ts";
import { Debuggee } from "./debuggee.ts";
import { type Answer, Arguments, capabilities, type DapEvent, type DapRequest, type DapResponse } from "./protocol.ts";

/** Which text frames are shown in, as a launch request says. */
const choiceOf = (text: string | null): SourceChoice => (text === "original" || text === "assembly" ? text : "auto");

/** What an adapter needs from its host, such as a process with stdin and stdout. */
export interface DapHost {
  /** Sends a message to the editor. */
  send(message: DapResponse | DapEvent): void;
  /**
   * Starts a debugger on the program that a launch request names. Rejects with an Error whose message says what is
   * wrong. `onLog` receives the messages of log points.
   */
  open(launch: Arguments, onLog: (text: string) => void): Promise<Session>;
  /** Returns the path under which an editor finds a file of the program, or null if the editor cannot read it. */
  pathOf(path: string): string | null;
  /** Called when the editor has disconnected. */
  end(): void;
}

/**
 * An action that a request has started. The promise is wrapped in an object, because awaiting the request must not
 * await the action.
 */
interface Taken {
  readonly going: Promise<void> | null;
}

/**
 * One session of the Debug Adapter Protocol, message by message. A thread of the protocol is a warp (vISA: a hardware
 * thread) of a running block.
 */
export class DapSession {
  readonly #host: DapHost;
  #seq = 0;
  #debuggee: Debuggee | null = null;
  #reportsProgress = false;
  /** The handling of the last message. */
  #taken: Promise<Taken> = Promise.resolve({ going: null });

  constructor(host: DapHost) {
    this.#host = host;
  }

  /**
   * Handles a message of the editor after all earlier ones; responses and events go to the host. Resolves when
   * everything that the message has started is finished. Never rejects: errors become responses.
   */
  async receive(message: unknown): Promise<void> {
    this.#taken = this.#taken.then(() => this.#take(message));
    const { going } = await this.#taken;
    await going;
  }

  async #take(message: unknown): Promise<Taken> {
    const raw = new Arguments(message);
    const [seq, command] = [raw.number("seq"), raw.string("command")];
    if (raw.string("type") !== "request" || seq === null || command === null) return { going: null };
    const request: DapRequest = { seq, type: "request", command };
    try {
      const { body, afterwards } = await this.#handle(command, raw.object("arguments"));
      if (body instanceof Promise) return { going: this.#respondLater(request, body) };
      this.#respond(request, body);
      return { going: afterwards?.() ?? null };
    } catch (error) {
      this.#fail(request, error);
      if (command === "launch") this.#event("terminated");
      return { going: null };
    }
  }

  async #handle(command: string, args: Arguments): Promise<Answer> {
    switch (command) {
      case "initialize":
        this.#reportsProgress = args.flag("supportsProgressReporting");
        return { body: capabilities };
      case "launch":
        return await this.#launch(args);
      case "terminate":
        this.#leave();
        return { afterwards: () => this.#event("terminated") };
      case "disconnect":
        this.#leave();
        return { afterwards: () => this.#host.end() };
      default:
        if (this.#debuggee === null) throw new DebuggerError("nothing is being debugged");
        return await this.#debuggee.handle(command, args);
    }
  }

  async #launch(args: Arguments): Promise<Answer> {
    if (this.#debuggee !== null) throw new DebuggerError("something is being debugged already");
    const say = (event: string, body?: object): void => this.#event(event, body);
    const session = await this.#host.open(args, (text) => say("output", { category: "console", output: `${text}\n` }));
    this.#debuggee = new Debuggee(session, {
      say,
      pathOf: (path) => this.#host.pathOf(path),
      end: () => {
        this.#leave();
        say("terminated");
      },
      stopOnEntry: args.flag("stopOnEntry"),
      shows: choiceOf(args.string("source")),
      reportsProgress: this.#reportsProgress,
    });
    return { afterwards: () => say("initialized") };
  }

  #leave(): void {
    this.#debuggee?.leave();
    this.#debuggee = null;
  }

  // ---- Messages -----------------------------------------------------------------------------------------------------

  #respond({ seq, command }: DapRequest, body: object | undefined): void {
    const answer = { seq: 0, type: "response", request_seq: seq, command, success: true } as const;
    this.#send({ ...answer, ...(body === undefined ? {} : { body }) });
  }

  async #respondLater(request: DapRequest, body: Promise<object>): Promise<void> {
    try {
      this.#respond(request, await body);
    } catch (error) {
      this.#fail(request, error);
    }
  }

  #fail({ seq, command }: DapRequest, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#send({
      ...({ seq: 0, type: "response", request_seq: seq, command, success: false } as const),
      message,
      body: { error: { id: 1, format: message.replace(/[{}]/g, "'"), showUser: command === "launch" } },
    });
  }

  #event(event: string, body?: object): void {
    this.#send({ seq: 0, type: "event", event, ...(body === undefined ? {} : { body }) });
  }

  #send(message: DapResponse | DapEvent): void {
    this.#host.send({ ...message, seq: ++this.#seq });
  }
}
