import { h } from "./dom.ts";
import type { EngineClient } from "./engine/client.ts";
import type { BreakpointView, MachineView, Motion, Program, WarpTrace } from "./engine/protocol.ts";
import { BreakpointList } from "./views/breakpoint-list.ts";
import { ConsoleView } from "./views/console.ts";
import { LanesView } from "./views/lanes.ts";
import { MemoryView } from "./views/memory.ts";
import { RegistersView } from "./views/registers.ts";
import { TimeBar } from "./views/time-bar.ts";
import { WarpHistory } from "./views/warp-history.ts";

/** Steps of a warp that are recorded. */
const maxSteps = 10_000;

const notRun = "Run the kernel to see what its lanes do.";

/** Hooks of the page. */
export interface InspectionEvents {
  /** The line of the present time; null: there is none. */
  readonly onLine: (path: string, line: number | null) => void;
  readonly onTrace: (trace: WarpTrace) => void;
  readonly breakpoints: () => readonly BreakpointView[];
  readonly onBreakpointLine: (path: string, line: number) => void;
  readonly onCondition: (breakpoint: BreakpointView, condition: string | null) => void;
  readonly onProblem: (message: string) => void;
}

/** A run that one looks at: lanes against time, registers, memory, the console, and the time that all of them show. */
export class Inspection {
  readonly lanes: LanesView;
  readonly registers: RegistersView;
  readonly memory: MemoryView;
  readonly console: ConsoleView;
  readonly timeBar: TimeBar;
  readonly breakpoints: BreakpointList;
  readonly #engine: EngineClient;
  readonly #events: InspectionEvents;
  #history: WarpHistory | null = null;
  #step = 0;
  #lane = 0;
  /** Whether the memory is shown, which costs a request at each step. */
  #wantsMemory = false;
  #isLooking = false;
  #wanted: Motion | null = null;
  /** The machine as it was last seen, until it is shown. */
  #view: MachineView | null = null;
  /** The frame at which the step is shown; 0: it is. */
  #frame = 0;

  constructor(engine: EngineClient, events: InspectionEvents) {
    this.#engine = engine;
    this.#events = events;
    this.lanes = new LanesView({
      onStep: (step, lane) => this.#choose(step, lane),
      onWarp: (block, warp) => void this.#follow(block, warp),
    });
    this.registers = new RegistersView(
      (lane) => this.#choose(this.#step, lane),
      (register) => this.#move({ kind: "lastWrite", expression: register }),
    );
    this.memory = new MemoryView({
      onLook: () => void this.#showMemory(),
      onTime: ({ block, warp, lane, time }) => void this.#goToAccess({ block, warp, lane, time }),
    });
    this.console = new ConsoleView((line) => this.#command(line));
    this.timeBar = new TimeBar({
      onStep: (step) => this.#choose(step, null),
      onContinue: (backward) => this.#move({ kind: backward ? "reverse" : "continue" }),
    });
    this.breakpoints = new BreakpointList({ onLine: events.onBreakpointLine, onCondition: events.onCondition });
    this.lanes.show(null, notRun);
  }

  get history(): WarpHistory | null {
    return this.#history;
  }

  get step(): number {
    return this.#step;
  }

  /** Forgets the run. */
  clear(hint = notRun): void {
    this.#history = null;
    this.#view = null;
    this.#lane = 0;
    this.lanes.show(null, hint);
    this.timeBar.show(null);
    this.registers.show(null, 0);
    this.memory.clear();
    this.console.begin(false);
  }

  /** Runs a program in the debugger and shows what one of its warps does. */
  async open(program: Program, { block = 0, warp = 0, sanitize = false } = {}): Promise<void> {
    this.#lane = 0;
    const traced = await this.#engine.request("trace", { program, block, warp, sanitize, most: maxSteps });
    if ("failure" in traced) {
      this.clear(traced.failure);
      return;
    }
    this.console.begin(true);
    this.#show(traced);
  }

  /** Shows a time of the warp, the first if it is before it. */
  goTo(time: number, lane: number | null = null): void {
    if (this.#history !== null) this.#choose(this.#history.stepAt(time), lane);
  }

  /** Goes to the next time at which the warp comes to a line, or back to the last. */
  goToLine(path: string, line: number, backward: boolean): void {
    if (this.#history !== null) this.#move({ kind: "toLine", path, line, backward });
  }

  /** Shows the memory too, or no longer. */
  showMemory(wanted: boolean): void {
    this.#wantsMemory = wanted;
    if (wanted && this.#history !== null) void this.#showMemory();
  }

  /** The step at which the warp comes to a line for the n-th time (from 1); null if it does not. */
  nthStepAtLine(line: number, n: number): number | null {
    const history = this.#history;
    let left = n;
    for (let step = 0; history !== null && step < history.steps; step++) {
      // An instruction may take several steps: those of matrices do.
      const arrives = step === 0 || history.siteAt(step - 1).line !== line;
      if (history.siteAt(step).line === line && arrives && --left === 0) return step;
    }
    return null;
  }

  /** Shows a step, and a lane if one is given. */
  chooseStep(step: number, lane: number | null): void {
    this.#choose(step, lane);
  }

  #show(trace: WarpTrace): void {
    if (trace.time.length === 0) {
      this.clear(`Warp ${trace.warp} of block ${trace.block} has not executed anything.`);
      return;
    }
    this.#history = new WarpHistory(trace);
    this.lanes.show(this.#history, "");
    this.timeBar.show(this.#history);
    this.#events.onTrace(trace);
    this.#choose(0, null);
  }

  async #follow(block: number, warp: number): Promise<void> {
    this.#show(await this.#engine.request("record", { block, warp, most: maxSteps }));
  }

  #choose(step: number, lane: number | null): void {
    const history = this.#history;
    if (history === null) return;
    const at = Math.max(0, Math.min(history.steps - 1, Math.round(Math.min(step, history.steps))));
    if (lane !== null) this.#lane = lane;
    this.#showStep(at);
    this.#move({ kind: "goTo", time: history.trace.time[at]! });
  }

  #showStep(step: number): void {
    this.#step = step;
    this.timeBar.showStep(step);
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** Shows the step, once a frame, however often it changes. */
  #draw(): void {
    this.#frame = 0;
    const history = this.#history;
    if (history === null) return;
    // The editor comes first: it asks for the layout, and nothing has changed that since the last frame.
    const { path, line } = history.siteAt(this.#step);
    this.#events.onLine(path, line);
    this.lanes.showStep(this.#step);
    this.timeBar.showText();
    if (this.#view === null) return;
    const running = history.groupsAt(this.#step).find((g) => g.state === "runs")?.lanes ?? 0;
    this.registers.show(this.#view, running);
    this.#view = null;
  }

  /** Asks for the machine at another time. While an answer is awaited, only the newest wish is kept. */
  #move(motion: Motion): void {
    this.#wanted = motion;
    if (!this.#isLooking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#wanted !== null && this.#history !== null) {
      const motion = this.#wanted;
      this.#wanted = null;
      const { block, warp, time } = this.#history.trace;
      const previous = motion.kind === "goTo" && this.#step > 0 ? time[this.#step - 1]! : null;
      try {
        const breakpoints = this.#events.breakpoints();
        const view = await this.#engine.request("move", {
          motion,
          block,
          warp,
          lane: this.#lane,
          previous,
          breakpoints,
        });
        await this.#arrive(motion, view);
      } catch (error) {
        this.#events.onProblem((error as Error).message);
      }
    }
    this.#isLooking = false;
  }

  async #arrive(motion: Motion, view: MachineView): Promise<void> {
    const history = this.#history;
    if (history === null) return;
    if (motion.kind !== "goTo") {
      this.#lane = view.lane;
      if (view.block !== history.trace.block || view.warp !== history.trace.warp) {
        await this.#follow(view.block, view.warp);
        this.goTo(view.time, view.lane);
        return;
      }
      this.#showStep(history.stepAt(view.time));
      if (view.reason !== null) this.#events.onProblem(view.reason);
    }
    this.#view = view;
    this.#showStep(this.#step);
    if (this.#wantsMemory && this.#wanted === null) await this.#showMemory();
  }

  async #showMemory(): Promise<void> {
    const history = this.#history;
    if (history === null) return;
    this.memory.show(await this.#engine.request("map", { ...this.memory.wanted, block: history.trace.block }));
  }

  async #goToAccess({
    block,
    warp,
    lane,
    time,
  }: {
    block: number;
    warp: number;
    lane: number;
    time: number;
  }): Promise<void> {
    const { trace } = this.#history!;
    if (trace.block !== block || trace.warp !== warp) await this.#follow(block, warp);
    this.goTo(time, lane);
  }

  async #command(line: string): Promise<string> {
    const { text, time, block, warp, lane } = await this.#engine.request("command", { line });
    const { trace } = this.#history ?? {};
    if (trace !== undefined && (trace.block !== block || trace.warp !== warp)) await this.#follow(block, warp);
    this.goTo(time, lane);
    return text;
  }
}

/** The lanes and the registers, one above the other or side by side. */
export const lanesPanel = ({ lanes, registers }: Inspection): HTMLElement =>
  h("section", { class: "view lanes-panel" }, lanes.element, registers.element);
