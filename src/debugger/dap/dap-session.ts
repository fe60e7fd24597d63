import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { Debuggee } from "./debuggee.ts";
import { type Answer, Arguments, capabilities, type DapEvent, type DapRequest, type DapResponse } from "./protocol.ts";

/** What an adapter needs of the place where it runs. */
export interface DapHost {
  /** Sends a message to the editor. */
  send(message: DapResponse | DapEvent): void;
  /** A debugger at the beginning of what a launch request names. Throws an Error whose message says what is wrong. */
  open(launch: Arguments, onLog: (text: string) => void): Promise<Session>;
  /** The path by which an editor finds a file of the program; null where there is none that it could show. */
  pathOf(path: string): string | null;
  /** The editor is done. */
  end(): void;
}

/** What a request has set going: the promise itself is in an object, so that waiting for the one is not waiting for the other. */
interface Taken {
  readonly going: Promise<void> | null;
}

/** The Debug Adapter Protocol, message by message: a thread is a warp, or vISA's hardware thread, of a block that runs. */
export class DapSession {
  readonly #host: DapHost;
  #seq = 0;
  #debuggee: Debuggee | null = null;
  #reportsProgress = false;
  /** Of the last message. */
  #taken: Promise<Taken> = Promise.resolve({ going: null });

  constructor(host: DapHost) {
    this.#host = host;
  }

  /**
   * Takes a message of the editor, in its turn; what it answers goes to the host. Resolves when what it sets going has come to
   * its end.
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
      byOrigin: args.string("source") === "original",
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
