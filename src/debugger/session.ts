import type { IrFunction } from "../ir/index.ts";
import type { DeviceMemory } from "../machine/memory/memory.ts";
import type { Site } from "../machine/state/code.ts";
import { type BreakpointHit, BreakpointProbe } from "./breakpoint-probe.ts";
import type { Breakpoint, BreakpointOptions } from "./breakpoint.ts";
import { parseExpression } from "./expression/parse.ts";
import { focusAfter } from "./focus-after.ts";
import { DebuggerError, findLocations, type Location } from "./location.ts";
import type { Probe } from "./probe.ts";
import { AnyProbe, nothing } from "./probes.ts";
import type { Found, Search } from "./search.ts";
import type { LaunchNote, SessionOptions, StepRequest } from "./session-options.ts";
import { blockHasEnded, frameAround, frameAtLine, inlinedAround, laneHasEnded, stepFrom } from "./step-from.ts";
import { ReverseStepProbe, type StepOptions, StepProbe, type Scope as StepScope, UntilProbe } from "./step-probe.ts";
import { SessionValues } from "./session-values.ts";
import type { Stop, StopReason } from "./stop.ts";
import { type LaunchStarter, Timeline } from "./timeline.ts";
import { assemblyPlace } from "./view/lane-place.ts";
import { type WatchHit, WatchProbe } from "./watch-probe.ts";
import { watchTarget } from "./watch-target.ts";
import type { Watched, WatchKind, Watchpoint } from "./watchpoint.ts";

export type { SessionOptions, StepRequest } from "./session-options.ts";

/**
 * A program under a debugger, independent of any user interface: each command is a method that returns data. Methods
 * that go through time return searches, which `complete` or `finish` carries out.
 */
export class Session extends SessionValues {
  /** The breakpoints by id. */
  readonly breakpoints = new Map<number, Breakpoint>();
  /** The watchpoints by id. */
  readonly watchpoints = new Map<number, Watchpoint>();
  /** Receives the messages of log points. */
  readonly onLog: (text: string) => void;
  /** What is known of the launches beforehand; empty if that is nothing. */
  readonly launchNotes: readonly LaunchNote[];
  /** Whether reports of sanitizers stop the program. */
  stopOnReports: boolean;
  /** Counts changes of `breakpoints` and `watchpoints`, so that a running search notices them. */
  revision = 0;
  #numbers = 0;
  #interrupted = false;

  /**
   * Starts the first launch of `launches` on `memory`, the memory of their device.
   *
   * @throws whatever starting the first launch throws
   */
  constructor(memory: DeviceMemory, launches: readonly LaunchStarter[], options: SessionOptions = {}) {
    super(new Timeline(memory, launches, options), options.readOrigin);
    this.stopOnReports = options.stopOnReports ?? true;
    this.launchNotes = options.launchNotes ?? [];
    this.onLog = options.onLog ?? (() => {});
    this.#settle(this.stop("entry"));
  }

  /** Describes the present; `reason` says how time came to stop here. */
  stop(reason: StopReason): Stop {
    const { now, timeline } = this;
    const { end } = timeline;
    const atEnd = end !== null && end.time === now;
    const finding = timeline.findings.find(({ time }) => time === now)?.report ?? null;
    const plain = reason === "step" || reason === "goto" || reason === "entry";
    const ended = atEnd && (plain || reason === "end");
    return {
      reason: ended ? (end.kind === "done" ? "end" : "fault") : reason,
      time: now,
      breakpoints: [],
      watchpoints: [],
      report: (atEnd ? end.report : null) ?? finding,
    };
  }

  // ---- Going through time -------------------------------------------------------------------------------------------

  /**
   * Carries out a search, yielding to the event loop from time to time. `interrupt` stops it wherever it is. `onPause`
   * is called at each yield.
   */
  async complete(search: Search<Stop>, onPause?: () => void): Promise<Stop> {
    this.#interrupted = false;
    for (;;) {
      const { done, value } = search.next();
      if (done) return value;
      onPause?.();
      await new Promise<void>((resolve) => setTimeout(resolve, 0));
      if (this.#interrupted) return this.#settle(this.stop("pause"));
    }
  }

  /** Carries out a search without yielding. */
  finish(search: Search<Stop>): Stop {
    for (;;) {
      const { done, value } = search.next();
      if (done) return value;
    }
  }

  /** Stops the search that `complete` is carrying out. */
  interrupt(): void {
    this.#interrupted = true;
  }

  /**
   * Goes to the next breakpoint, watchpoint, report or end of time, or back to the last one. `here`: breakpoints at the
   * present instruction count.
   */
  continue({ backward = false, here = false } = {}): Search<Stop> {
    return backward ? this.#backward(nothing) : this.#forward(nothing, { here });
  }

  /**
   * Makes a step.
   *
   * @throws DebuggerError if the lane in focus has ended, or the block if the scope is wider
   */
  step({ kind, backward = false, scope = "lane", granularity = "instruction" }: StepRequest): Search<Stop> {
    const { place, frame } = this.view;
    if (!backward) {
      if (this.timeline.atEnd) return this.#stay("end");
      if (scope === "lane" && place?.site === null) throw new DebuggerError(laneHasEnded);
      if (scope !== "machine" && place === null) throw new DebuggerError(blockHasEnded);
    }
    const depth = (kind === "out" ? frame?.activation.depth : place?.activation?.depth) ?? 0;
    const level = frame !== null && frame.activation === place?.activation ? frame.level : undefined;
    const options = this.#stepFrom(place?.site ?? null, depth, { kind, scope, granularity, level });
    const follows = scope !== "lane";
    const around = granularity === "source-line" ? inlinedAround(this.view) : 0;
    if (kind === "into" && !backward && around > 0 && this.focus.frame > 0) return this.#enterInlined();
    if (backward) return this.#backward(new ReverseStepProbe(options), follows);
    const search = this.#forward(new StepProbe(options), { follows });
    return kind === "over" && around > 0 ? this.#staying(search, around, frame?.function ?? null) : search;
  }

  /** Steps into a function that is inlined at the present instruction, for which time need not pass. */
  // biome-ignore lint/correctness/useYield: a search that ends at once
  *#enterInlined(): Search<Stop> {
    this.focus = { ...this.focus, frame: this.focus.frame - 1 };
    return this.stop("step");
  }

  /** After a step over, the focus stays in the function where it began, even if others are inlined at the new place. */
  *#staying(search: Search<Stop>, around: number, name: string | null): Search<Stop> {
    const stop = yield* search;
    if (stop.reason === "step") this.focus = { ...this.focus, frame: frameAround(this.view, around, name) };
    return stop;
  }

  /**
   * Goes to a place of the present function or out of it; without a place, to the next instruction further down in the
   * text. What counts is the lane in focus, or the first lane of a wider scope.
   *
   * @throws DebuggerError if there is no such place, or if the lane or block in focus has ended
   */
  until(text: string | null, scope: StepScope = "lane"): Search<Stop> {
    if (this.timeline.atEnd) return this.#stay("end");
    const { place } = this.view;
    if (place === null) throw new DebuggerError(blockHasEnded);
    const { site, activation } = place;
    if (site === null || activation === null) throw new DebuggerError(laneHasEnded);
    const places = text === null ? null : this.locations(text);
    const isThere = (at: { readonly code: { readonly ir: IrFunction }; readonly index: number }): boolean =>
      places === null
        ? at.code.ir === site.code.ir && at.index > site.index
        : places.some(({ ir, index }) => ir === at.code.ir && index === at.index);
    const options = this.#stepFrom(site, activation.depth, { kind: "over", scope, granularity: "instruction" });
    return this.#forward(new UntilProbe(options, isThere), { follows: scope !== "lane" });
  }

  #stepFrom(from: Site | null, depth: number, how: Parameters<typeof stepFrom>[1]): StepOptions {
    return stepFrom({ from, depth, focus: this.focus, next: () => this.timeline.moment }, how);
  }

  /** Goes to a time, or to the end of time if that is earlier. */
  *goTo(time: number): Search<Stop> {
    yield* this.timeline.goTo(Math.max(0, time));
    return this.#settle(this.stop("goto"));
  }

  /** Goes to the beginning of a launch by its index, or to the end of time if that is before. */
  *goToLaunch(index: number): Search<Stop> {
    const { timeline } = this;
    if (timeline.beginOf(index) === null) yield* timeline.goTo(timeline.frontier);
    while (timeline.beginOf(index) === null && !timeline.atEnd) yield* timeline.goTo(timeline.now + 100_000);
    yield* timeline.goTo(timeline.beginOf(index) ?? Infinity);
    return this.#settle(this.stop("goto"));
  }

  /**
   * Goes back to just before the last write to what an expression names. If there is none, time stays as it is, and the
   * reason of the stop is "beginning".
   *
   * @throws ExpressionError or DebuggerError if the expression names nothing that can be written
   */
  lastWrite(text: string): Search<Stop> {
    const watched = this.watched(text);
    return this.#lastWrite({ id: 0, text, on: "write", watched, enabled: true, hits: 0 });
  }

  *#lastWrite(watchpoint: Watchpoint): Search<Stop> {
    const { now, focus } = this;
    const probe = new WatchProbe([watchpoint], this);
    const found = yield* this.timeline.backward(probe);
    if (found === "probe") return this.#settle({ ...this.stop("watchpoint"), watchpoints: probe.hits });
    yield* this.timeline.goTo(now);
    this.focus = focus;
    return this.stop("beginning");
  }

  /** Ends at once: time does not move. */
  // biome-ignore lint/correctness/useYield: a search that ends at once
  *#stay(reason: StopReason): Search<Stop> {
    return this.stop(reason);
  }

  /** `follows`: after a step, the focus moves to whichever lanes are next. */
  *#forward(step: Probe, { here = false, follows = false } = {}): Search<Stop> {
    const breakpoints = new BreakpointProbe(this, { counts: true, seen: here ? -1 : this.now });
    const watch = new WatchProbe(this.watchpoints, this);
    const probe = new AnyProbe([step, breakpoints, watch]);
    const found = yield* this.timeline.forward(probe, { findings: this.stopOnReports, here });
    if (found !== "probe") return this.#settle(this.stop(found === "finding" ? "report" : "end"));
    const { now } = this;
    const { moment } = this;
    // A step may end at a breakpoint that has not been checked yet.
    if (moment !== null && breakpoints.time !== now) breakpoints.before(moment);
    const hits = breakpoints.time === now ? breakpoints.hits : [];
    const watched = watch.time === now - 1 ? watch.hits : [];
    for (const { breakpoint } of hits) if (breakpoint.temporary) this.removeBreakpoint(breakpoint.id);
    for (const { watchpoint } of watched) watchpoint.hits++;
    return this.#settle(this.#stopAt(hits, watched), follows);
  }

  *#backward(step: Probe, follows = false): Search<Stop> {
    const watch = new WatchProbe(this.watchpoints, this);
    const before = this.now;
    const floor = this.stopOnReports ? this.#lastFinding(before) : 0;
    const probe = new AnyProbe([step, new BreakpointProbe(this, { counts: false }), watch]);
    const found: Found = yield* this.timeline.backward(probe, floor);
    if (found === "beginning") return this.#settle(this.stop("beginning"));
    if (found === "limit") return this.#settle(this.stop("report"));
    const { now } = this;
    const again = new BreakpointProbe(this, { counts: false });
    again.before(this.moment!);
    return this.#settle(this.#stopAt(again.hits, watch.time === now ? watch.hits : []), follows);
  }

  #stopAt(breakpoints: readonly BreakpointHit[], watchpoints: readonly WatchHit[]): Stop {
    const reason = breakpoints.length > 0 ? "breakpoint" : watchpoints.length > 0 ? "watchpoint" : "step";
    return { ...this.stop(reason), breakpoints, watchpoints };
  }

  #lastFinding(before: number): number {
    return this.timeline.findings.reduce((last, { time }) => (time < before && time > last ? time : last), 0);
  }

  #settle(stop: Stop, follows = false): Stop {
    this.focus = focusAfter(stop, this, follows);
    const [hit] = stop.breakpoints;
    if (hit !== undefined) this.focus = { ...this.focus, frame: frameAtLine(this.view, hit.breakpoint.text) };
    return stop;
  }

  // ---- Breakpoints and watchpoints ----------------------------------------------------------------------------------

  /**
   * Finds the instructions that a place stands for; see `findLocations`. A line without a file is in that of the
   * function in focus.
   *
   * @throws DebuggerError if there are none
   */
  locations(text: string): readonly Location[] {
    const { frame } = this.view;
    const here = this.hasSource ? frame?.place : frame && assemblyPlace(frame.site);
    return findLocations(this.functions, text, here?.path ?? null);
  }

  /** Adds a breakpoint at `locations`; `text` is how the user wrote the place. */
  addBreakpoint(text: string, locations: readonly Location[], options: BreakpointOptions = {}): Breakpoint {
    const { condition = null, hitCondition = null, logMessage = null, temporary = false } = options;
    const id = ++this.#numbers;
    const breakpoint = { id, text, locations, condition, hitCondition, logMessage, temporary, enabled: true, hits: 0 };
    this.breakpoints.set(id, breakpoint);
    this.revision++;
    return breakpoint;
  }

  /** Removes a breakpoint; returns whether there was one with this id. */
  removeBreakpoint(id: number): boolean {
    this.revision++;
    return this.breakpoints.delete(id);
  }

  /**
   * Adds a watchpoint on what an expression names, for the lane in focus.
   *
   * @throws ExpressionError or DebuggerError if the expression names nothing that can be watched
   */
  addWatchpoint(text: string, on: WatchKind): Watchpoint {
    return this.watch(text, on, this.watched(text));
  }

  /** Adds a watchpoint on something that `watched` has found. */
  watch(text: string, on: WatchKind, watched: Watched): Watchpoint {
    const watchpoint = { id: ++this.#numbers, text, on, watched, enabled: true, hits: 0 };
    this.watchpoints.set(watchpoint.id, watchpoint);
    this.revision++;
    return watchpoint;
  }

  /**
   * Returns what an expression names, for the lane in focus.
   *
   * @throws ExpressionError or DebuggerError if it names nothing that can be watched
   */
  watched(text: string): Watched {
    const { block, warp, lane } = this.focus;
    return watchTarget(parseExpression(text), this.scope, { block, warp, lane, launch: this.launch });
  }
}
