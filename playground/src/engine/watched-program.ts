import { plainStyle, sanitizerNames } from "lanewise";
import {
  Console,
  type Execution,
  formatValue,
  launchesOf,
  liveRegisters,
  parseExpression,
  Session,
  type Stop,
} from "lanewise/debugger";
import { AccessLog } from "./access-log.ts";
import { findingOfReport, shownName } from "./findings.ts";
import { mapOf } from "./memory-map.ts";
import { openRun } from "./program.ts";
import type { EngineRequests, MachineView, MemoryMap, Motion, RegisterRow, WarpTrace } from "./protocol.ts";
import { siteView, WarpRecorder } from "./trace.ts";

/** Instructions between two checkpoints: so few that one can scrub through time. */
const checkpointEvery = 2000;

/** Sends what a search yields to wherever messages come from, so that the worker can be reached meanwhile. */
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A program in the debugger, of which one warp's history has been recorded. */
export class WatchedProgram {
  readonly session: Session;
  readonly #console: Console;
  readonly #log: AccessLog;
  readonly #types: ReadonlyMap<string, string>;

  private constructor(session: Session, log: AccessLog, types: ReadonlyMap<string, string>) {
    this.session = session;
    this.#log = log;
    this.#types = types;
    this.#console = new Console(session, { style: plainStyle, width: 100 });
  }

  /** Throws what a run throws that cannot begin. */
  static async open(args: EngineRequests["trace"]["args"]): Promise<WatchedProgram> {
    const clock: { session: Session | null } = { session: null };
    const log = new AccessLog(() => clock.session?.now ?? 0);
    const run = await openRun(args.program, {
      sanitize: new Set(args.sanitize ? sanitizerNames : []),
      maxSteps: null,
      observers: [log.observer],
    });
    const session = new Session(run.device.memory, launchesOf(run), { stopOnReports: false, checkpointEvery });
    clock.session = session;
    const types = new Map([...run.job.buffers].map(([name, { type }]) => [name, type]));
    return new WatchedProgram(session, log, types);
  }

  /** Goes to the end of time, or until there are enough steps. */
  async record({ block, warp, most }: EngineRequests["record"]["args"]): Promise<WarpTrace> {
    const { session } = this;
    const { timeline } = session;
    if (session.now > 0) await session.complete(session.goTo(0));
    const recorder = new WarpRecorder({ block, warp, most }, () => session.now);
    const search = timeline.forward(recorder, { here: true });
    for (;;) {
      const { done, value } = search.next();
      if (!done) {
        await breath();
        continue;
      }
      const end = value === "probe" ? "limit" : (timeline.end?.kind ?? "limit");
      return { ...recorder.trace(end, session.now), found: this.#found(), ...sizesOf(session.execution) };
    }
  }

  async move({
    motion,
    block,
    warp,
    lane,
    previous,
    breakpoints,
  }: EngineRequests["move"]["args"]): Promise<MachineView> {
    const { session } = this;
    session.focus = { block, warp, lane, frame: 0 };
    let before: ReadonlyMap<string, readonly string[]> | null = null;
    if (motion.kind === "goTo" && previous !== null) {
      await session.complete(session.goTo(previous));
      session.focus = { block, warp, lane, frame: 0 };
      before = new Map(this.#registers().map(({ name, values }) => [name, values]));
    }
    const stop = await this.#go(motion, breakpoints);
    if (motion.kind === "goTo") session.focus = { block, warp, lane, frame: 0 };
    return this.#view(motion.kind === "goTo" ? null : reasonOf(stop, session), before);
  }

  map(args: EngineRequests["map"]["args"]): MemoryMap {
    return mapOf(this.session, this.#log, this.#types, args);
  }

  async command({ line }: { line: string }): Promise<EngineRequests["command"]["result"]> {
    const { text } = await this.#console.run(line);
    const { block, warp, lane } = this.session.focus;
    return { text, time: this.session.now, block, warp, lane };
  }

  async #go(motion: Motion, breakpoints: EngineRequests["move"]["args"]["breakpoints"]): Promise<Stop> {
    const { session } = this;
    if (motion.kind === "goTo") return session.complete(session.goTo(motion.time));
    if (motion.kind === "lastWrite") return session.complete(session.lastWrite(motion.expression));
    if (motion.kind === "toLine") return this.#goToLine(motion);
    const added = breakpoints.map(({ path, line, condition }) => {
      const text = `${path}:${line}`;
      return session.addBreakpoint(
        text,
        session.locations(text),
        condition === "" ? {} : { condition: parseExpression(condition) },
      );
    });
    try {
      return await session.complete(session.continue({ backward: motion.kind === "reverse" }));
    } finally {
      for (const { id } of added) session.removeBreakpoint(id);
    }
  }

  /** Goes on until the warp in focus comes to a line, or (if it does not) nowhere. */
  async #goToLine({ path, line, backward }: Extract<Motion, { kind: "toLine" }>): Promise<Stop> {
    const { session } = this;
    const { now, focus } = session;
    const text = `${path}:${line}`;
    const { id } = session.addBreakpoint(text, session.locations(text));
    try {
      for (;;) {
        const stop = await session.complete(session.continue({ backward }));
        const { block, warp } = session.focus;
        if (stop.reason === "breakpoint" && (block !== focus.block || warp !== focus.warp)) continue;
        if (stop.reason === "breakpoint") return stop;
        await session.complete(session.goTo(now));
        session.focus = focus;
        throw new Error(`The warp does not come to line ${line} ${backward ? "before" : "after"} this.`);
      }
    } finally {
      session.removeBreakpoint(id);
    }
  }

  #found(): WarpTrace["found"] {
    const { timeline } = this.session;
    const reports = timeline.findings.map(({ time, report }) => ({ time, finding: findingOfReport(report) }));
    const { end } = timeline;
    const isKnown = timeline.findings.some(({ report }) => report === end?.report);
    if (end === null || end.report === null || isKnown) return reports;
    return [...reports, { time: end.time, finding: findingOfReport(end.report) }];
  }

  #view(reason: string | null, before: ReadonlyMap<string, readonly string[]> | null): MachineView {
    const { session } = this;
    const { block, warp, lane } = session.focus;
    const { place, frames } = session.view;
    return {
      time: session.now,
      reason,
      block,
      warp,
      lane,
      at: place?.site ? siteView(place.site) : null,
      why: place === null ? "the block is not running" : (place.why ?? stateText[place.state] ?? null),
      stack: frames.map((frame) => ({ function: shownName(frame.function ?? "?"), at: siteView(frame.site) })),
      registers: this.#registers().map((row) => ({ ...row, changed: changesOf(row, before?.get(row.name)) })),
      printed: session.timeline.output,
    };
  }

  #registers(): Omit<RegisterRow, "changed">[] {
    const { scope, view } = this.session;
    const { frame, warp } = view;
    if (frame === null || warp === null) return [];
    const { activation, site } = frame;
    const live = liveRegisters(activation.code.ir, site.index);
    const rows = scope.names.registers.map((register) => ({
      name: register.name,
      type: register.type,
      live: live.has(register.register),
      values: lanes.map((lane) =>
        (warp.lanes >>> lane) & 1
          ? formatValue({ bytes: register.read({ grid: scope.grid, activation, lane }), type: register.type })
          : "",
      ),
    }));
    // The program's own variables first: the predefined ones, whose names begin with %, are many and mostly 0.
    const isPredefined = ({ name }: { readonly name: string }): boolean => name.startsWith("%");
    const { visa } = scope.names;
    const file = [...visa.filter((v) => !isPredefined(v)), ...visa.filter(isPredefined)].map((variable) => ({
      name: variable.name,
      type: variable.type,
      live: true,
      values: elementsOf(formatValue({ bytes: variable.read(scope), type: variable.type })),
    }));
    return [...rows, ...file];
  }
}

const lanes = Array.from({ length: 32 }, (_, lane) => lane);

/** The elements of a variable of vISA, the first for lane 0. */
const elementsOf = (text: string): string[] => {
  const all = text.startsWith("{") ? text.slice(1, -1).split(", ") : [text];
  return lanes.map((lane) => all[lane] ?? "");
};

const stateText: Readonly<Record<string, string | null>> = {
  next: null,
  ready: "waits for its turn",
  exited: "has ended",
  absent: "does not exist",
};

const changesOf = ({ values }: Omit<RegisterRow, "changed">, before: readonly string[] | undefined): number =>
  before === undefined
    ? 0
    : values.reduce((mask, value, lane) => (value === before[lane] ? mask : mask | (1 << lane)), 0);

function sizesOf({ grid }: Execution): Pick<WarpTrace, "blocks" | "warps"> {
  const [x, y, z] = grid.dimensions;
  const threads = grid.block[0] * grid.block[1] * grid.block[2];
  return { blocks: x * y * z, warps: Math.ceil(threads / 32) };
}

function reasonOf(stop: Stop, session: Session): string {
  const { reason, breakpoints, watchpoints, report } = stop;
  if (report !== null) return report.message;
  const [hit] = watchpoints;
  if (reason === "watchpoint" && hit !== undefined) return `before the last write of ${hit.watchpoint.text}`;
  if (reason === "breakpoint")
    return `breakpoint at ${breakpoints.map(({ breakpoint }) => breakpoint.text).join(", ")}`;
  if (reason === "beginning") return session.now === 0 ? "the beginning of time" : "nothing earlier has written it";
  return reason === "end" ? "the end of the program" : reason;
}
