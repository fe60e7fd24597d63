import type { Execution, Moment } from "../interpreter/execution.ts";
import type { IrFunction } from "../ir/index.ts";
import type { DeviceMemory } from "../machine/memory/memory.ts";
import type { Dim3 } from "../machine/reports/report.ts";
import { type BreakpointHit, BreakpointProbe } from "./breakpoint-probe.ts";
import type { Breakpoint, BreakpointOptions } from "./breakpoint.ts";
import { assign, evaluate } from "./expression/evaluate.ts";
import { parseExpression } from "./expression/parse.ts";
import { Scope } from "./expression/scope.ts";
import { focusAfter } from "./focus-after.ts";
import { type Focus, type FocusView, viewOf } from "./focus.ts";
import { DebuggerError, findLocations, type Location } from "./location.ts";
import type { Probe } from "./probe.ts";
import { AnyProbe } from "./probes.ts";
import type { Found, Search } from "./search.ts";
import {
  type Granularity,
  ReverseStepProbe,
  type StepKind,
  StepProbe,
  type Scope as StepScope,
  UntilProbe,
} from "./step-probe.ts";
import type { Stop, StopReason } from "./stop.ts";
import { type LaunchPlan, Timeline, type TimelineOptions } from "./timeline.ts";
import { assemblyPlace } from "./view/lane-place.ts";
import type { TypedBits } from "./view/value.ts";
import { type WatchHit, WatchProbe } from "./watch-probe.ts";
import { watchTarget } from "./watch-target.ts";
import type { Watched, WatchKind, Watchpoint } from "./watchpoint.ts";

export interface SessionOptions extends TimelineOptions {
  /** Sanitizers' reports stop. Default: true. */
  readonly stopOnReports?: boolean;
  /** What breakpoints print. */
  readonly onLog?: (text: string) => void;
}

export interface StepRequest {
  readonly kind: StepKind;
  readonly backward?: boolean;
  readonly scope?: StepScope;
  readonly granularity?: Granularity;
}

const laneHasEnded =
  "the lane in focus has ended: look at another one (info lanes), or let steps be of the warp (scope warp)";

const blockHasEnded =
  "the block in focus has ended: look at another one (info blocks), or let steps be of all (scope machine)";

const nothing: Probe = { wants: () => false, before: () => false, after: () => false };

/**
 * A program under a debugger, without any front: each command is a method that returns data. Those that go through time are
 * searches, which `complete` carries out.
 */
export class Session {
  readonly timeline: Timeline;
  readonly breakpoints = new Map<number, Breakpoint>();
  readonly watchpoints = new Map<number, Watchpoint>();
  readonly onLog: (text: string) => void;
  stopOnReports: boolean;
  focus: Focus = { block: 0, warp: 0, lane: 0, frame: 0 };
  /** Counts the changes of `breakpoints` and `watchpoints` after which a search that goes on must look again. */
  revision = 0;
  /** Counts the values that somebody has changed. */
  edits = 0;
  #numbers = 0;
  #interrupted = false;

  /** Throws what the first launch throws. */
  constructor(memory: DeviceMemory, launches: readonly LaunchPlan[], options: SessionOptions = {}) {
    this.timeline = new Timeline(memory, launches, options);
    this.stopOnReports = options.stopOnReports ?? true;
    this.onLog = options.onLog ?? (() => {});
    this.#settle(this.stop("entry"));
  }

  // ---- Where it stands ----------------------------------------------------------------------------------------------

  get now(): number {
    return this.timeline.now;
  }

  /** Which launch of the program runs. */
  get launch(): number {
    return this.timeline.launch.index;
  }

  get execution(): Execution {
    return this.timeline.execution;
  }

  /** What is executed next, or would be if it could. */
  get moment(): Moment | null {
    return this.timeline.moment ?? this.timeline.faulting;
  }

  get view(): FocusView {
    return viewOf(this.execution, this.moment, this.focus);
  }

  /** What names mean in the function in focus. */
  get scope(): Scope {
    const { warp, frame } = this.view;
    return new Scope(this.execution, { warp, lane: this.focus.lane, activation: frame?.activation ?? null }, this);
  }

  get functions(): readonly IrFunction[] {
    return this.execution.program.module.functions;
  }

  /** Where time stands, and what is known of it; `reason`: how it came there. */
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

  /** Goes through a search with pauses, so that `interrupt` can come between; then it stops where it is. */
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

  /** The same at once. */
  finish(search: Search<Stop>): Stop {
    for (;;) {
      const { done, value } = search.next();
      if (done) return value;
    }
  }

  interrupt(): void {
    this.#interrupted = true;
  }

  /** To the next breakpoint, watchpoint, report or end of time. `here`: a breakpoint at the present instruction counts. */
  continue({ backward = false, here = false } = {}): Search<Stop> {
    return backward ? this.#backward(nothing) : this.#forward(nothing, { here });
  }

  /** Throws a DebuggerError when the lane in focus has ended, or what else a step is of. */
  step({ kind, backward = false, scope = "lane", granularity = "instruction" }: StepRequest): Search<Stop> {
    const { place, frame } = this.view;
    if (!backward) {
      if (this.timeline.atEnd) return this.#stay("end");
      if (scope === "lane" && place?.site === null) throw new DebuggerError(laneHasEnded);
      if (scope !== "machine" && place === null) throw new DebuggerError(blockHasEnded);
    }
    const options = {
      kind,
      scope,
      granularity,
      focus: this.focus,
      depth: (kind === "out" ? frame?.activation.depth : place?.activation?.depth) ?? 0,
      from: place?.site ?? null,
      next: () => this.timeline.moment,
    };
    const follows = scope !== "lane";
    if (backward) return this.#backward(new ReverseStepProbe(options), follows);
    return this.#forward(new StepProbe(options), { follows });
  }

  /**
   * To a place of the present function, or behind it; without a place to the next instruction that lies behind in the text: the lane
   * in focus, or the first of its warp or its block. Throws a DebuggerError when there is no such place.
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
    const options = {
      kind: "over",
      scope,
      granularity: "instruction",
      focus: this.focus,
      depth: activation.depth,
      from: site,
      next: () => this.timeline.moment,
    } as const;
    return this.#forward(new UntilProbe(options, isThere), { follows: scope !== "lane" });
  }

  *goTo(time: number): Search<Stop> {
    yield* this.timeline.goTo(Math.max(0, time));
    return this.#settle(this.stop("goto"));
  }

  /**
   * To before the last write of what an expression names. Where there is none, time stays as it is, and the reason is `beginning`.
   * Throws an ExpressionError or a DebuggerError when it names nothing.
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

  /** Time does not move. */
  // biome-ignore lint/correctness/useYield: a search that ends at once
  *#stay(reason: StopReason): Search<Stop> {
    return this.stop(reason);
  }

  /** `follows`: whoever is next at the end of a step comes into focus. */
  *#forward(step: Probe, { here = false, follows = false } = {}): Search<Stop> {
    const breakpoints = new BreakpointProbe(this, { counts: true, seen: here ? -1 : this.now });
    const watch = new WatchProbe(this.watchpoints, this);
    const probe = new AnyProbe([step, breakpoints, watch]);
    const found = yield* this.timeline.forward(probe, { findings: this.stopOnReports, here });
    if (found !== "probe") return this.#settle(this.stop(found === "finding" ? "report" : "end"));
    const { now } = this;
    const { moment } = this;
    // A step may end at a breakpoint, which has not been asked yet.
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
    return stop;
  }

  // ---- Breakpoints and watchpoints ----------------------------------------------------------------------------------

  /** Throws a DebuggerError when the text names no place. */
  locations(text: string): readonly Location[] {
    const { frame } = this.view;
    return findLocations(this.functions, text, frame === null ? null : assemblyPlace(frame.site).path);
  }

  addBreakpoint(text: string, locations: readonly Location[], options: BreakpointOptions = {}): Breakpoint {
    const { condition = null, hitCondition = null, logMessage = null, temporary = false } = options;
    const id = ++this.#numbers;
    const breakpoint = { id, text, locations, condition, hitCondition, logMessage, temporary, enabled: true, hits: 0 };
    this.breakpoints.set(id, breakpoint);
    this.revision++;
    return breakpoint;
  }

  removeBreakpoint(id: number): boolean {
    this.revision++;
    return this.breakpoints.delete(id);
  }

  /** Throws an ExpressionError or a DebuggerError when there is nothing to watch. */
  addWatchpoint(text: string, on: WatchKind): Watchpoint {
    return this.watch(text, on, this.watched(text));
  }

  /** The same for what has been found before. */
  watch(text: string, on: WatchKind, watched: Watched): Watchpoint {
    const watchpoint = { id: ++this.#numbers, text, on, watched, enabled: true, hits: 0 };
    this.watchpoints.set(watchpoint.id, watchpoint);
    this.revision++;
    return watchpoint;
  }

  /** What an expression names, for the lane in focus. Throws an ExpressionError or a DebuggerError when it names nothing. */
  watched(text: string): Watched {
    const { block, warp, lane } = this.focus;
    return watchTarget(parseExpression(text), this.scope, { block, warp, lane, launch: this.launch });
  }

  // ---- Values -------------------------------------------------------------------------------------------------------

  /** Throws an ExpressionError. */
  evaluate(text: string): TypedBits {
    return evaluate(parseExpression(text), this.scope);
  }

  /**
   * Gives a register, a variable or memory a value: from here on time is another one. Returns whether sanitizers see nothing
   * more of the launch.
   */
  assign(target: string, value: string): boolean {
    this.#refuseAtEnd();
    const to = parseExpression(target);
    const from = parseExpression(value);
    const { scope } = this;
    evaluate(from, scope);
    this.edits++;
    return this.timeline.edit(() => assign(to, from, scope)).sanitizersStop;
  }

  /** Writes memory as the lane in focus sees it; false when not all of it is there. Throws a DebuggerError at the end of time. */
  writeMemory(address: bigint, bytes: Uint8Array): boolean {
    this.#refuseAtEnd();
    const { scope } = this;
    if (scope.memory(address, "u8") === null) return false;
    let written = false;
    this.edits++;
    this.timeline.edit(() => {
      written = scope.writeMemory(address, bytes);
    });
    return written;
  }

  /** Nothing would follow from a change. */
  #refuseAtEnd(): void {
    const { atEnd, end } = this.timeline;
    if (atEnd && end?.kind === "done") throw new DebuggerError("the program has ended");
  }

  /** The block's place in the grid. */
  blockId(ticket: number): Dim3 {
    const [x, y] = this.execution.grid.dimensions;
    return [ticket % x, Math.floor(ticket / x) % y, Math.floor(ticket / (x * y))];
  }
}
