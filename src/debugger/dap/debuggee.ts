import { readable } from "../../names/index.ts";
import { plainStyle } from "../../source/index.ts";
import { Console } from "../console/console.ts";
import { stopText } from "../console/render.ts";
import { ExpressionError } from "../expression/tree.ts";
import { DebuggerError } from "../location.ts";
import type { Search } from "../search.ts";
import type { Session, StepRequest } from "../session.ts";
import type { Stop } from "../stop.ts";
import { EditorBreakpoints } from "./editor-breakpoints.ts";
import { Inspector } from "./inspector.ts";
import { Progress } from "./progress.ts";
import type { Answer, Arguments } from "./protocol.ts";
import { shownOrigin, type SourceOptions } from "./shown-source.ts";
import { Threads } from "./threads.ts";

interface DebuggeeOptions extends SourceOptions {
  /** Sends an event to the editor. */
  readonly say: (event: string, body?: object) => void;
  /** Called when the program is no longer debugged, because it has ended or the user said so. */
  readonly end: () => void;
  readonly stopOnEntry: boolean;
  readonly reportsProgress: boolean;
}

const reasons: Readonly<Record<Stop["reason"], string>> = {
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
};

/** How the debug console displays the output of commands. */
const view = { style: plainStyle, width: 100 };

/** A program that is being debugged, and the requests of an editor about it. */
export class Debuggee {
  readonly #session: Session;
  readonly #options: DebuggeeOptions;
  readonly #console: Console;
  readonly #threads: Threads;
  readonly #breakpoints: EditorBreakpoints;
  readonly #inspector: Inspector;
  /** The movement through time that is in progress. */
  #going: Promise<unknown> | null = null;
  #searches = 0;
  #isConfigured = false;
  /** Whether stops are no longer reported. */
  #isSilent = false;
  #lastStop: Stop | null = null;
  #shownOutput = "";

  constructor(session: Session, options: DebuggeeOptions) {
    this.#session = session;
    this.#options = options;
    this.#console = new Console(session, view);
    this.#threads = new Threads(session);
    this.#breakpoints = new EditorBreakpoints(session, options);
    this.#inspector = new Inspector(session, this.#threads, options);
  }

  /** Interrupts the program without reporting it. */
  leave(): void {
    this.#isSilent = true;
    this.#session.interrupt();
  }

  // ---- Requests -----------------------------------------------------------------------------------------------------

  /** Handles a request. Those that may arrive while the program runs are handled between two time slices of it. */
  handle(command: string, args: Arguments): Answer | Promise<Answer> {
    const breakpoints = this.#breakpoints;
    const inspector = this.#inspector;
    switch (command) {
      case "pause":
        this.#session.interrupt();
        return {};
      case "cancel":
        if (args.string("progressId") !== null) this.#session.interrupt();
        return {};
      case "restart":
        return this.#restart();
      case "threads":
        return { body: { threads: this.#threads.list(this.#going !== null) } };
      case "setBreakpoints":
        return { body: breakpoints.setSource(args) };
      case "setFunctionBreakpoints":
        return { body: breakpoints.setFunctions(args) };
      case "setInstructionBreakpoints":
        return { body: breakpoints.setInstructions(args) };
      case "setDataBreakpoints":
        return { body: breakpoints.setData(args) };
      case "setExceptionBreakpoints":
        this.#session.stopOnReports = args.strings("filters").includes("reports");
        return { body: { breakpoints: args.strings("filters").map(() => ({ verified: true })) } };
      case "loadedSources":
        return { body: inspector.loadedSources() };
      case "source":
        return { body: inspector.source(args) };
      default:
        if (this.#going !== null) throw new DebuggerError("the program is running");
        return this.#handleStopped(command, args);
    }
  }

  #handleStopped(command: string, args: Arguments): Answer {
    const thread = args.number("threadId");
    if (thread !== null) this.#threads.select(thread);
    const search = this.#searchOf(command, args);
    if (search !== null) {
      const body = command === "continue" || command === "reverseContinue" ? { allThreadsContinued: true } : undefined;
      return { body, afterwards: () => this.#go(search) };
    }
    switch (command) {
      case "continue":
        // For an editor, continuing at the end ends the session.
        return { body: { allThreadsContinued: true }, afterwards: () => this.#options.end() };
      case "evaluate":
        return { body: this.#evaluate(args) };
      case "lanewise/focus":
        return {
          body: this.#threads.focusLane(args.number("lane") ?? 0),
          afterwards: () => this.#refocus(),
        };
      default:
        return { body: this.#look(command, args) };
    }
  }

  #look(command: string, args: Arguments): object {
    const session = this.#session;
    const inspector = this.#inspector;
    switch (command) {
      case "stackTrace":
        return inspector.stackTrace(args);
      case "scopes":
        return inspector.scopes(args);
      case "variables":
        return inspector.variables(args);
      case "setVariable":
      case "setExpression":
        return this.#assign(args);
      case "completions":
        return { targets: this.#console.complete(args.string("text") ?? "").map((label) => ({ label })) };
      case "dataBreakpointInfo":
        return this.#breakpoints.dataInfo(args, inspector);
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
      case "lanewise/time":
        return { time: session.now, frontier: session.timeline.frontier, end: session.timeline.end?.time ?? null };
      default:
        throw new DebuggerError(`${command} is not supported`);
    }
  }

  /**
   * Returns the movement through time that a request asks for; null if it asks for none. Throws a DebuggerError if it
   * is not possible.
   */
  #searchOf(command: string, args: Arguments): Search<Stop> | null {
    const session = this.#session;
    const { timeline } = session;
    switch (command) {
      case "configurationDone":
        if (this.#isConfigured) throw new DebuggerError("the configuration is done already");
        this.#isConfigured = true;
        return this.#options.stopOnEntry ? entry(session) : session.continue({ here: true });
      case "continue":
        return timeline.atEnd && timeline.end?.kind === "done" ? null : session.continue();
      case "reverseContinue":
        return session.continue({ backward: true });
      case "next":
        return this.#step(args, { kind: "over" });
      case "stepIn":
        return this.#step(args, { kind: "into" });
      case "stepOut":
        return this.#step(args, { kind: "out" });
      case "stepBack":
        return this.#step(args, { kind: "over", backward: true });
      case "lanewise/goTo":
        return session.goTo(args.number("time") ?? 0);
      case "lanewise/lastWrite":
        return session.lastWrite(args.string("expression") ?? "");
      default:
        return null;
    }
  }

  /** Steps the lane in focus; if it has ended, its warp; if that has ended too, whichever warp is next. */
  #step(args: Arguments, request: StepRequest): Search<Stop> {
    const { place, warp, frame } = this.#session.view;
    const origin = frame === null ? null : shownOrigin(frame, this.#options);
    const byInstruction = args.string("granularity") === "instruction" || origin === null;
    const hasEnded = !place?.site && request.backward !== true;
    return this.#session.step({
      granularity: byInstruction ? "instruction" : "source-line",
      scope: !hasEnded ? "lane" : warp?.live ? "warp" : "machine",
      ...request,
    });
  }

  async #restart(): Promise<Answer> {
    if (this.#going !== null) {
      this.leave();
      await this.#going;
      this.#isSilent = false;
    }
    this.#isConfigured = true;
    return { afterwards: () => this.#go(entry(this.#session, true)) };
  }

  // ---- Going through time -------------------------------------------------------------------------------------------

  #go(search: Search<Stop>): Promise<void> {
    const going = this.#goThrough(search);
    this.#going = going;
    return going;
  }

  /** Errors on the way become output, because the request itself has already been answered. */
  async #goThrough(search: Search<Stop>): Promise<void> {
    const session = this.#session;
    const { say, reportsProgress } = this.#options;
    const progress = reportsProgress ? new Progress(`run ${++this.#searches}`, () => session.now, say) : null;
    let stop: Stop;
    try {
      stop = await session.complete(search, () => progress?.update());
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      say("output", { category: "stderr", output: `${message}\n` });
      stop = session.stop("pause");
    }
    progress?.end();
    this.#going = null;
    this.#arrive(stop);
  }

  #arrive(stop: Stop): void {
    this.#threads.forget();
    this.#inspector.forget();
    this.#lastStop = stop;
    if (this.#isSilent) return;
    const { say } = this.#options;
    const { output } = this.#session.timeline;
    if (output.length > this.#shownOutput.length && output.startsWith(this.#shownOutput)) {
      say("output", { category: "stdout", output: output.slice(this.#shownOutput.length) });
      this.#shownOutput = output;
    }
    const hits = [...stop.breakpoints.map((h) => h.breakpoint.id), ...stop.watchpoints.map((h) => h.watchpoint.id)];
    say("stopped", {
      reason: reasons[stop.reason],
      description: describe(stop),
      threadId: this.#threads.focused,
      allThreadsStopped: true,
      ...(stop.report === null ? {} : { text: readable(stop.report.message) }),
      ...(hits.length === 0 ? {} : { hitBreakpointIds: hits.filter((id) => id > 0) }),
    });
    const fails = stop.breakpoints.some(({ error }) => error !== null);
    if (stop.reason === "end" || stop.reason === "beginning" || stop.watchpoints.length > 0 || fails) {
      say("output", { category: "console", output: `${stopText(this.#session, stop, view)}\n` });
    }
  }

  // ---- Values -------------------------------------------------------------------------------------------------------

  /** Evaluates an expression. In the console, commands of the terminal work too. */
  #evaluate(args: Arguments): object | Promise<object> {
    const text = args.string("expression") ?? "";
    const isConsole = args.string("context") === "repl";
    this.#inspector.selectFrame(args.number("frameId"));
    try {
      return this.#inspector.evaluate(text);
    } catch (error) {
      if (isConsole && this.#console.knows(text)) return this.#command(text);
      throw isConsole && error instanceof ExpressionError ? new DebuggerError(error.frame) : error;
    }
  }

  async #command(text: string): Promise<object> {
    const { now, focus, edits } = this.#session;
    const going = this.#console.run(text);
    this.#going = going.catch(() => {});
    try {
      const { text: result, quit = false } = await going;
      this.#going = null;
      if (quit) this.#options.end();
      else if (this.#session.now !== now) this.#arrive(this.#session.stop("goto"));
      else if (this.#session.focus !== focus) this.#refocus();
      else if (this.#session.edits !== edits && !this.#isSilent)
        this.#options.say("invalidated", { areas: ["variables"] });
      return { result, variablesReference: 0 };
    } finally {
      this.#going = null;
    }
  }

  /**
   * Tells the editor that the focus has moved; editors follow it. Not called when an editor only inspects another
   * frame.
   */
  #refocus(): void {
    this.#threads.keep();
    if (!this.#isSilent) this.#options.say("invalidated", { areas: ["threads", "stacks", "variables"] });
  }

  #assign(args: Arguments): object {
    const value = args.string("value") ?? "";
    const frame = args.number("frameId");
    const target = args.string("expression") ?? this.#inspector.targetOf(args);
    this.#inspector.selectFrame(frame);
    this.#session.assign(target, value);
    return this.#inspector.assigned(target);
  }

  #exceptionInfo(): object {
    const report = this.#lastStop?.report ?? this.#session.stop("goto").report;
    if (report === null) throw new DebuggerError("there is no report here");
    const details = [...report.notes, ...(report.help === undefined ? [] : [report.help])].join("\n");
    return {
      exceptionId: report.code,
      description: readable(report.message),
      breakMode: "always",
      details: { message: readable(report.message), typeName: report.code, stackTrace: details },
    };
  }
}

function* entry(session: Session, again = false): Search<Stop> {
  if (again) yield* session.goTo(0);
  return session.stop("entry");
}

/** Kept short: editors have little room. */
function describe({ reason, time, report }: Stop): string {
  const what: Readonly<Record<Stop["reason"], string>> = {
    entry: "Entry",
    step: "Step",
    goto: "Here",
    breakpoint: "Breakpoint",
    watchpoint: "Watchpoint",
    report: report?.code ?? "Report",
    fault: report?.code ?? "Fault",
    end: "The end",
    beginning: "The beginning",
    pause: "Interrupted",
  };
  return `${what[reason]}, time ${time}`;
}
