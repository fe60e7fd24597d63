import { emit } from "../machine/events.ts";
import type { Execution, Moment } from "../interpreter/execution.ts";
import { addFault } from "../machine/faults/report-sink.ts";
import type { EventSink } from "../machine/state/launch-state.ts";
import { Fault } from "../machine/faults/fault.ts";
import type { DeviceMemory } from "../machine/memory/memory.ts";
import type { BegunLaunch } from "../runtime/device/begin-execution.ts";
import { type Checkpoint, Checkpoints } from "./checkpoints.ts";
import { Chronicle } from "./chronicle.ts";
import type { End, Finding } from "./end.ts";
import type { Probe } from "./probe.ts";
import { type Found, Pause, type Search } from "./search.ts";
import type { TimelineOptions } from "./timeline-options.ts";

/** Starts a launch, without executing anything yet. `print` receives what the launch prints. */
export type LaunchStarter = (print: (text: string) => void) => BegunLaunch;

interface Launch {
  readonly begun: BegunLaunch;
  readonly begin: number;
  /** The sanitizers, which see each instruction once: when it is executed for the first time. */
  readonly observers: EventSink | null;
}

const defaults: Required<TimelineOptions> = { checkpointEvery: 100_000, checkpointBytes: 512 * 2 ** 20 };
/** Bytes that can be saved in about the time that one instruction takes. */
const bytesPerInstruction = 64;
/** The most basic blocks that are run at a time. */
const maxBatch = 1024;
/** How far back a backward search looks first, in instructions. */
const nearby = 2000;

/**
 * The time of a program: its launches one after the other, measured in instructions of warps. The machine is
 * deterministic: to go back is to restore an earlier checkpoint and go forward from there.
 */
export class Timeline {
  /** The memory of the device that the launches run on. */
  readonly memory: DeviceMemory;
  readonly #starters: readonly LaunchStarter[];
  readonly #options: Required<TimelineOptions>;
  readonly #checkpoints: Checkpoints;
  readonly #launches: Launch[] = [];
  readonly #chronicle = new Chronicle();
  #current = 0;
  #frontier = 0;
  /** The machine at the frontier, while time is elsewhere. */
  #newest: Checkpoint | null = null;
  /** The next time at which going forward has to restore a checkpoint. */
  #seam = Infinity;
  #nextCheckpoint = 0;
  /** Basic blocks to run at a time: few enough for checkpoints to be taken on time. */
  readonly #batch: number;
  #end: End | null = null;

  /**
   * Starts the first launch on `memory`, the memory of the launches' device.
   *
   * @throws whatever starting the first launch throws
   */
  constructor(memory: DeviceMemory, starters: readonly LaunchStarter[], options: TimelineOptions = {}) {
    this.memory = memory;
    this.#starters = starters;
    this.#options = { ...defaults, ...options };
    this.#batch = Math.max(1, Math.min(maxBatch, this.#options.checkpointEvery >> 4));
    this.#checkpoints = new Checkpoints(this.#options.checkpointBytes);
    this.#begin();
  }

  /** The running launch as the interpreter executes it. */
  get execution(): Execution {
    return this.#launch.begun.execution;
  }

  /** The index of the running launch, and the number of launches. */
  get launch(): { readonly index: number; readonly count: number } {
    return { index: this.#current, count: this.#starters.length };
  }

  /** The time at which a launch begins, by its index; null as long as that is not known. */
  beginOf(index: number): number | null {
    return this.#launches[index]?.begin ?? null;
  }

  /** The present time: instructions of warps since the first launch began. */
  get now(): number {
    return this.#launch.begin + this.execution.time;
  }

  /** The latest time reached so far. */
  get frontier(): number {
    return this.#frontier;
  }

  /** The end of time; null if it has not been reached yet. */
  get end(): End | null {
    return this.#end;
  }

  /** Whether time stands at its end. */
  get atEnd(): boolean {
    return this.#end?.time === this.now;
  }

  /** The reports of sanitizers so far. */
  get findings(): readonly Finding[] {
    return this.#chronicle.findings;
  }

  /** What the program has printed before the present. */
  get output(): string {
    return this.#chronicle.outputBefore(this.now);
  }

  /** How many checkpoints are kept. */
  get checkpointCount(): number {
    return this.#checkpoints.count;
  }

  /** The next instruction; null at the end of time. */
  get moment(): Moment | null {
    return this.atEnd ? null : this.execution.moment;
  }

  /** The instruction whose fault has ended time, if time stands there. */
  get faulting(): Moment | null {
    return this.atEnd ? this.execution.moment : null;
  }

  // ---- Searches -----------------------------------------------------------------------------------------------------

  /**
   * Goes forward at least one instruction, to just before or after the first one that the probe finds. `findings`:
   * stops at reports of sanitizers too. Nothing beyond `limit` is executed. `here`: the very first instruction counts.
   */
  *forward(probe: Probe, { findings = false, limit = Infinity, here = false } = {}): Search<Found> {
    const pause = new Pause();
    const start = this.now;
    const known = (findings && this.findings.find(({ time }) => time > start)?.time) || Infinity;
    const farthest = Math.min(limit, known);
    while (!this.atEnd) {
      const { now } = this;
      if (now >= farthest) return now === known ? "finding" : "limit";
      const seen = this.findings.length;
      if (probe.wants(this.execution.group!)) {
        const moment = this.execution.moment!;
        if (probe.before(moment) && (here || now > start)) return "probe";
        this.#step();
        if (probe.after(moment)) return "probe";
      } else this.#advance(farthest, probe);
      const found = findings ? this.findings[seen]?.time : undefined;
      if (found !== undefined && found > start) {
        yield* this.goTo(found);
        return "finding";
      }
      if (pause.isDue(this.now - now)) yield;
    }
    return "end";
  }

  /**
   * Goes back to the last instruction before now that the probe finds, or to `floor`. Searches a short period before
   * now first, then longer and longer ones, because the target is usually near.
   */
  *backward(probe: Probe, floor = 0): Search<Found> {
    const pause = new Pause();
    let span = nearby;
    for (let end = this.now; end > floor; span *= 8) {
      const from = this.#checkpoints.lastAtOrBefore(end - 1)!;
      const start = Math.max(floor, from.time, end - span);
      yield* this.goTo(start);
      let found = -1;
      while (this.now < end) {
        const { now } = this;
        if (probe.wants(this.execution.group!)) {
          const moment = this.execution.moment!;
          const before = probe.before(moment);
          this.#step();
          if (probe.after(moment) || before) found = now;
        } else this.#advance(end, probe);
        if (pause.isDue(this.now - now)) yield;
      }
      if (found >= 0) {
        yield* this.goTo(found);
        return "probe";
      }
      end = start;
    }
    yield* this.goTo(floor);
    return floor > 0 ? "limit" : "beginning";
  }

  /** Goes to a time, or to the end of time if that is earlier. */
  *goTo(time: number): Search<void> {
    const near = this.#checkpoints.lastAtOrBefore(time);
    if (this.#newest !== null && time >= this.#newest.time) this.#restore(this.#newest);
    else if (near !== null && (time < this.now || near.time > this.now)) this.#restore(near);
    const pause = new Pause();
    while (this.now < time && !this.atEnd) {
      const { now } = this;
      this.#advance(time);
      if (pause.isDue(this.now - now)) yield;
    }
  }

  /**
   * Changes the machine and forgets the future, which will follow from the change. Sanitizers that have already
   * observed that future no longer observe this launch; returns whether that is the case.
   */
  edit(change: () => void): { readonly sanitizersStop: boolean } {
    const { now } = this;
    const isPast = now < this.#frontier;
    change();
    this.#checkpoints.cutFrom(now);
    this.#launches.length = this.#current + 1;
    this.#chronicle.cutFrom(now);
    this.#frontier = now;
    this.#newest = null;
    this.#end = null;
    const sanitizersStop = isPast && this.#launch.observers !== null;
    if (isPast) this.#launches[this.#current] = { ...this.#launch, observers: null };
    this.execution.grid.observers = this.#launch.observers;
    this.#checkpoints.add(this.#checkpoint(true));
    this.#seam = Infinity;
    return { sanitizersStop };
  }

  // ---- One way forward ----------------------------------------------------------------------------------------------

  get #launch(): Launch {
    return this.#launches[this.#current]!;
  }

  #step(): void {
    const { now } = this;
    try {
      this.execution.step();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#fault(error, now);
      return;
    }
    this.#arrive(now);
  }

  /** Runs basic blocks that the probe has no interest in, up to a limit; if there are none, one instruction. */
  #advance(limit: number, probe: Probe | null = null): void {
    const { execution, now } = this;
    const { begin, observers } = this.#launch;
    if (observers !== null && now >= this.#frontier) {
      this.#step();
      return;
    }
    const farthest = Math.min(limit, this.#seam);
    try {
      execution.runBlocks(farthest - begin, this.#batch, (group) => probe?.wants(group) === true);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#faultIn(this.now);
      return;
    }
    if (this.now === now) this.#step();
    else this.#arrive(now);
  }

  #arrive(before: number): void {
    const { execution, now } = this;
    if (now >= this.#seam) {
      const seam = this.#newest?.time === now ? this.#newest : this.#checkpoints.lastAtOrBefore(now)!;
      this.#restore(seam);
      return;
    }
    if (now > this.#frontier) {
      this.#chronicle.take(execution.grid.reports, before);
      if (execution.moment === null) this.#endLaunch();
      this.#frontier = now;
    }
    if (now >= this.#nextCheckpoint) this.#keep();
  }

  #endLaunch(): void {
    const { grid, stuck } = this.execution;
    if (stuck !== null) {
      this.#endTime("fault");
      return;
    }
    const { observers } = grid;
    if (observers !== null) emit(observers, "launchEnd", grid);
    this.#chronicle.take(grid.reports, this.now - 1);
    this.#launch.begun.end();
    // A fault's report remains even after the user has changed what it was about.
    const failed = this.findings.some(({ time, report }) => time >= this.#launch.begin && report.severity === "error");
    if (failed || this.#current + 1 >= this.#starters.length) this.#endTime("done");
    else this.#begin();
  }

  #begin(): void {
    const begin = this.#launches.length === 0 ? 0 : this.now;
    const start = this.#starters[this.#launches.length]!;
    const begun = start((text) => {
      const { execution } = begun;
      // What is printed at the end of a launch belongs to its last instruction.
      const time = execution.moment === null ? this.now - 1 : begin + execution.blockEnd;
      if (time >= this.#frontier) this.#chronicle.print(time, text);
    });
    const { grid } = begun.execution;
    this.#current = this.#launches.push({ begun, begin, observers: grid.observers }) - 1;
    this.#checkpoints.add(this.#checkpoint(true));
    this.#seam = Infinity;
    this.#schedule(begin);
    if (grid.reports.failed || begun.execution.moment === null) this.#endTime("fault");
  }

  #endTime(kind: End["kind"]): void {
    const { stuck, grid } = this.execution;
    if (stuck !== null) addFault(grid.reports, stuck);
    this.#endAt(kind, this.now);
  }

  #endAt(kind: End["kind"], time: number): void {
    const report = kind === "done" ? null : (this.execution.grid.reports.reports.at(-1) ?? null);
    if (report !== null) this.#chronicle.know(report);
    this.#end = { kind, time, report };
  }

  /** Ends time before an instruction that cannot be executed. */
  #fault(fault: Fault, time: number): void {
    const { grid } = this.execution;
    addFault(grid.reports, fault);
    this.#endAt("fault", time);
    // The machine that the sanitizers know is about to be replaced.
    this.#launches[this.#current] = { ...this.#launch, observers: null };
    this.#frontier = time;
    this.#replayTo(time);
  }

  /** Finds out which instruction of the block that begins at a time faults. */
  #faultIn(time: number): void {
    this.#chronicle.forgetOutputFrom(time);
    this.#frontier = time;
    this.#replayTo(time);
    while (this.#end === null) this.#step();
  }

  #replayTo(time: number): void {
    this.#bringBack(this.#checkpoints.lastAtOrBefore(time)!);
    while (this.now < time) this.#advance(time);
  }

  // ---- Checkpoints --------------------------------------------------------------------------------------------------

  #keep(): void {
    const last = this.#checkpoints.lastAtOrBefore(this.now);
    if (last === null || this.now - last.time >= this.#interval) this.#checkpoints.add(this.#checkpoint(false));
    this.#schedule(this.#checkpoints.lastAtOrBefore(this.now)!.time);
  }

  #schedule(last: number): void {
    this.#nextCheckpoint = last + this.#interval;
  }

  get #interval(): number {
    const bytes = this.memory.used + this.execution.stateBytes;
    return this.#options.checkpointEvery + Math.floor(bytes / bytesPerInstruction);
  }

  #checkpoint(isSeam: boolean): Checkpoint {
    const { execution, now, memory } = this;
    return {
      time: now,
      launch: this.#current,
      memory: memory.freeze(this.#checkpoints.lastAtOrBefore(now)?.memory ?? null),
      restore: execution.checkpoint(),
      bytes: execution.stateBytes,
      isSeam,
    };
  }

  #restore(checkpoint: Checkpoint): void {
    const { now } = this;
    if (now === this.#frontier && checkpoint.time < now && this.#newest === null) {
      this.#newest = this.#checkpoint(true);
    }
    this.#bringBack(checkpoint);
  }

  #bringBack(checkpoint: Checkpoint): void {
    this.#current = checkpoint.launch;
    checkpoint.memory.restore();
    checkpoint.restore();
    const isNewest = checkpoint.time >= this.#frontier;
    this.execution.grid.observers = isNewest ? this.#launch.observers : null;
    if (isNewest) this.#newest = null;
    this.#seam = this.#checkpoints.nextSeam(checkpoint.time)?.time ?? this.#newest?.time ?? Infinity;
    this.#schedule(checkpoint.time);
  }
}
