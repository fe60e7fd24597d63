import { plainStyle } from "../../source/index.ts";
import { Console } from "../console/console.ts";
import { stopText } from "../console/render.ts";
import { ExpressionError } from "../expression/tree.ts";
import { DebuggerError } from "../location.ts";
import type { Session, StepRequest } from "../session.ts";
import type { Stop } from "../stop.ts";
import type { Search } from "../search.ts";
import { EditorBreakpoints } from "./editor-breakpoints.ts";
import { Inspector } from "./inspector.ts";
import { Progress } from "./progress.ts";
import { Arguments, capabilities, type DapEvent, type DapRequest, type DapResponse } from "./protocol.ts";
import { Threads } from "./threads.ts";

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

/** A program that is being debugged, with what an editor knows of it. */
interface Debuggee {
  readonly session: Session;
  readonly console: Console;
  readonly threads: Threads;
  readonly breakpoints: EditorBreakpoints;
  readonly inspector: Inspector;
  readonly stopOnEntry: boolean;
  /** Whether steps go by lines of the source that the assembly was made from. */
  readonly byOrigin: boolean;
}

type Body = object | undefined;

/** The Debug Adapter Protocol, message by message: a thread is a warp, or vISA's hardware thread, of a block that runs. */
export class DapSession {
  readonly #host: DapHost;
  #seq = 0;
  #debuggee: Debuggee | null = null;
  #running = false;
  #reportsProgress = false;
  #lastStop: Stop | null = null;
  #shownOutput = "";

  constructor(host: DapHost) {
    this.#host = host;
  }

  /** Takes a message of the editor; what it answers goes to the host. */
  async receive(message: unknown): Promise<void> {
    const raw = new Arguments(message);
    const [seq, command] = [raw.number("seq"), raw.string("command")];
    if (raw.string("type") !== "request" || seq === null || command === null) return;
    const request: DapRequest = { seq, type: "request", command, arguments: raw.value("arguments") };
    try {
      const body = await this.#handle(request, new Arguments(request.arguments));
      this.#respond(request, body);
      await this.#afterwards(request);
    } catch (error) {
      const known = error instanceof DebuggerError || error instanceof ExpressionError || error instanceof Error;
      const message = known ? error.message : String(error);
      this.#send({
        ...this.#answer(request),
        success: false,
        message,
        body: { error: { id: 1, format: message.replace(/[{}]/g, "'"), showUser: command === "launch" } },
      });
      if (command === "launch") this.#event("terminated");
    }
  }

  // ---- Requests -----------------------------------------------------------------------------------------------------

  async #handle({ command }: DapRequest, args: Arguments): Promise<Body> {
    switch (command) {
      case "initialize":
        this.#reportsProgress = args.flag("supportsProgressReporting");
        return capabilities;
      case "launch":
        return await this.#launch(args);
      case "configurationDone":
      case "disconnect":
      case "terminate":
        return undefined;
      case "cancel":
      case "pause":
        this.#debuggee?.session.interrupt();
        return undefined;
      case "threads":
        return { threads: this.#program.threads.list(this.#running) };
      default:
        return this.#handleRunning(command, args);
    }
  }

  /** What also comes while the program runs: it is held up for a moment. */
  #handleRunning(command: string, args: Arguments): Body {
    const { breakpoints, session } = this.#program;
    switch (command) {
      case "setBreakpoints":
        return breakpoints.setSource(args);
      case "setFunctionBreakpoints":
        return breakpoints.setFunctions(args);
      case "setInstructionBreakpoints":
        return breakpoints.setInstructions(args);
      case "setDataBreakpoints":
        return breakpoints.setData(args);
      case "setExceptionBreakpoints":
        session.stopOnReports = args.strings("filters").includes("reports");
        return { breakpoints: args.strings("filters").map(() => ({ verified: true })) };
      case "loadedSources":
        return this.#program.inspector.loadedSources();
      case "source":
        return this.#program.inspector.source(args);
      default:
        break;
    }
    if (this.#running) throw new DebuggerError("the program is running");
    return this.#handleStopped(command, args);
  }

  #handleStopped(command: string, args: Arguments): Body | Promise<Body> {
    const { session, inspector, threads, breakpoints } = this.#program;
    const thread = args.number("threadId");
    if (thread !== null) threads.select(thread);
    switch (command) {
      case "continue":
      case "reverseContinue":
        return { allThreadsContinued: true };
      case "next":
      case "stepIn":
      case "stepOut":
      case "stepBack":
      case "restart":
      case "lanewise/goTo":
      case "lanewise/lastWrite":
        return undefined;
      case "stackTrace":
        return inspector.stackTrace(args);
      case "scopes":
        return inspector.scopes(args);
      case "variables":
        return inspector.variables(args);
      case "setVariable":
      case "setExpression":
        return this.#assign(args);
      case "evaluate":
        return this.#evaluate(args);
      case "completions":
        return { targets: this.#program.console.complete(args.string("text") ?? "").map((label) => ({ label })) };
      case "dataBreakpointInfo":
        return breakpoints.dataInfo(args, inspector);
      case "readMemory":
        return inspector.readMemory(args);
      case "writeMemory":
        return inspector.writeMemory(args);
      case "disassemble":
        return inspector.disassemble(args);
      case "exceptionInfo":
        return this.#exceptionInfo();
      case "lanewise/lanes":
        return inspector.lanes();
      case "lanewise/focus":
        return threads.focusLane(args.number("lane") ?? 0);
      case "lanewise/time":
        return { time: session.now, frontier: session.timeline.frontier, end: session.timeline.end?.time ?? null };
      default:
        throw new DebuggerError(`${command} is not supported`);
    }
  }

  async #launch(args: Arguments): Promise<Body> {
    const session = await this.#host.open(args, (text) =>
      this.#event("output", { category: "console", output: `${text}\n` }),
    );
    const threads = new Threads(session);
    const byOrigin = args.string("source") === "original";
    const inspector = new Inspector(session, threads, { byOrigin, pathOf: (path) => this.#host.pathOf(path) });
    this.#debuggee = {
      session,
      threads,
      inspector,
      byOrigin,
      console: new Console(session, { style: plainStyle, width: 100 }),
      breakpoints: new EditorBreakpoints(session),
      stopOnEntry: args.flag("stopOnEntry"),
    };
    return undefined;
  }

  /** What an answered request sets going. */
  async #afterwards({ command, arguments: raw }: DapRequest): Promise<void> {
    const args = new Arguments(raw);
    if (command === "launch") this.#event("initialized");
    else if (command === "disconnect" || command === "terminate") {
      this.#debuggee?.session.interrupt();
      if (command === "terminate") this.#event("terminated");
      else this.#host.end();
    } else if (command === "lanewise/focus") this.#event("invalidated", { areas: ["stacks", "variables"] });
    else {
      const search = this.#searchOf(command, args);
      if (search !== null) await this.#go(search, command);
    }
  }

  /** The way through time that a request asks for; null: it asks for none. */
  #searchOf(command: string, args: Arguments): Search<Stop> | null {
    if (this.#debuggee === null) return null;
    const { session, stopOnEntry, byOrigin } = this.#debuggee;
    const byInstruction = args.string("granularity") === "instruction" || !byOrigin;
    const granularity = byInstruction ? "instruction" : "source-line";
    const step = (request: StepRequest): Search<Stop> => session.step({ granularity, ...request });
    switch (command) {
      case "configurationDone":
        return stopOnEntry ? entry(session) : session.continue({ here: true });
      case "restart":
        return entry(session, true);
      case "continue":
        return session.continue();
      case "reverseContinue":
        return session.continue({ backward: true });
      case "next":
        return step({ kind: "over" });
      case "stepIn":
        return step({ kind: "into" });
      case "stepOut":
        return step({ kind: "out" });
      case "stepBack":
        return step({ kind: "over", backward: true });
      case "lanewise/goTo":
        return session.goTo(args.number("time") ?? 0);
      case "lanewise/lastWrite":
        return session.lastWrite(args.string("expression") ?? "");
      default:
        return null;
    }
  }

  async #go(search: Search<Stop>, command: string): Promise<void> {
    const { session, threads } = this.#program;
    const { timeline } = session;
    // Going on from the end is what ends the program for an editor.
    if (command === "continue" && timeline.atEnd && timeline.end?.kind === "done") {
      this.#event("terminated");
      return;
    }
    this.#running = true;
    const say = (event: string, body: object): void => this.#event(event, body);
    const progress = this.#reportsProgress ? new Progress(`run ${this.#seq}`, () => session.now, say) : null;
    try {
      const stop = await session.complete(search, () => progress?.update());
      this.#arrive(stop);
    } finally {
      this.#running = false;
      progress?.end();
      threads.forget();
    }
    this.#stopped(this.#lastStop!);
  }

  #arrive(stop: Stop): void {
    this.#lastStop = stop;
    const { output } = this.#program.session.timeline;
    if (output.length > this.#shownOutput.length && output.startsWith(this.#shownOutput)) {
      this.#event("output", { category: "stdout", output: output.slice(this.#shownOutput.length) });
      this.#shownOutput = output;
    }
  }

  #stopped(stop: Stop): void {
    const { session, threads, inspector } = this.#program;
    inspector.forget();
    const reason = {
      entry: "entry",
      step: "step",
      goto: "goto",
      breakpoint: "breakpoint",
      watchpoint: "data breakpoint",
      report: "exception",
      fault: "exception",
      end: "pause",
      beginning: "pause",
      pause: "pause",
    }[stop.reason];
    const hits = [...stop.breakpoints.map((h) => h.breakpoint.id), ...stop.watchpoints.map((h) => h.watchpoint.id)];
    const text = stop.report?.message;
    this.#event("stopped", {
      reason,
      description: describe(stop),
      threadId: threads.focused,
      allThreadsStopped: true,
      ...(text === undefined ? {} : { text }),
      ...(hits.length === 0 ? {} : { hitBreakpointIds: hits.filter((id) => id > 0) }),
    });
    if (stop.reason === "end" || stop.reason === "beginning" || stop.watchpoints.length > 0) {
      const said = stopText(session, stop, { style: plainStyle });
      this.#event("output", { category: "console", output: `${said}\n` });
    }
  }

  // ---- Values -------------------------------------------------------------------------------------------------------

  /** An expression; in the console also a command, as the terminal has them. */
  async #evaluate(args: Arguments): Promise<Body> {
    const { inspector, console, session, threads } = this.#program;
    const text = args.string("expression") ?? "";
    inspector.selectFrame(args.number("frameId"));
    try {
      return inspector.evaluate(text);
    } catch (error) {
      const isCommand = args.string("context") === "repl" && console.knows(text);
      if (!isCommand) {
        if (error instanceof ExpressionError && args.string("context") === "repl") throw new DebuggerError(error.frame);
        throw error;
      }
    }
    const { now } = session;
    const { text: result } = await console.run(text);
    threads.forget();
    if (session.now !== now) {
      this.#arrive(session.stop("goto"));
      this.#stopped(session.stop("goto"));
    } else this.#event("invalidated", { areas: ["all"] });
    return { result, variablesReference: 0 };
  }

  #assign(args: Arguments): Body {
    const { inspector, session } = this.#program;
    const value = args.string("value") ?? "";
    const frame = args.number("frameId");
    const target = args.string("expression") ?? inspector.targetOf(args);
    inspector.selectFrame(frame);
    session.assign(target, value);
    return inspector.assigned(target);
  }

  #exceptionInfo(): Body {
    const report = this.#lastStop?.report ?? this.#program.session.stop("goto").report;
    if (report === null) throw new DebuggerError("there is no report here");
    const details = [...report.notes, ...(report.help === undefined ? [] : [report.help])].join("\n");
    return {
      exceptionId: report.code,
      description: report.message,
      breakMode: "always",
      details: { message: report.message, typeName: report.code, stackTrace: details },
    };
  }

  // ---- Messages -----------------------------------------------------------------------------------------------------

  get #program(): Debuggee {
    if (this.#debuggee === null) throw new DebuggerError("nothing has been launched");
    return this.#debuggee;
  }

  #answer({ seq, command }: DapRequest): Omit<DapResponse, "success"> {
    return { seq: 0, type: "response", request_seq: seq, command };
  }

  #respond(request: DapRequest, body: Body): void {
    this.#send({ ...this.#answer(request), success: true, ...(body === undefined ? {} : { body }) });
  }

  #event(event: string, body?: object): void {
    this.#send({ seq: 0, type: "event", event, ...(body === undefined ? {} : { body }) });
  }

  #send(message: DapResponse | DapEvent): void {
    this.#host.send({ ...message, seq: ++this.#seq });
  }
}

function* entry(session: Session, again = false): Search<Stop> {
  if (again) yield* session.goTo(0);
  return session.stop("entry");
}

function describe({ reason, time, report }: Stop): string {
  const what: Readonly<Record<Stop["reason"], string>> = {
    entry: "At the beginning",
    step: "After a step",
    goto: "Gone to a time",
    breakpoint: "At a breakpoint",
    watchpoint: "At a watchpoint",
    report: `Before ${report?.code ?? "a report"}`,
    fault: `Before ${report?.code ?? "a fault"}`,
    end: "The program has ended",
    beginning: "At the beginning of time",
    pause: "Interrupted",
  };
  return `${what[reason]} (time ${time})`;
}
