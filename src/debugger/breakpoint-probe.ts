import { lowestLane } from "../ir/lane-mask.ts";
import type { Execution, Moment } from "../interpreter/execution.ts";
import type { IrFunction } from "../ir/index.ts";
import type { Group } from "../machine/state/launch-state.ts";
import { type Breakpoint, meets } from "./breakpoint.ts";
import { lanesWhere } from "./expression/evaluate.ts";
import { filledIn } from "./expression/fill-in.ts";
import { Scope } from "./expression/scope.ts";
import { ExpressionError } from "./expression/tree.ts";
import type { Probe } from "./probe.ts";
import { BlockMarks } from "./probes.ts";
import { levelOf } from "./view/lane-place.ts";

/** A breakpoint that lanes have reached. */
export interface BreakpointHit {
  /** The breakpoint that was hit. */
  readonly breakpoint: Breakpoint;
  /** The lanes for which the condition holds, as a signed 32-bit mask. */
  readonly lanes: number;
  /** Why the condition could not be evaluated, or null. */
  readonly error: ExpressionError | null;
}

/** The part of a session that the probe needs. */
interface BreakpointContext {
  readonly breakpoints: ReadonlyMap<number, Breakpoint>;
  /** Changes whenever the breakpoints do. */
  readonly revision: number;
  readonly now: number;
  readonly execution: Execution;
  /** Receives the messages of log points. */
  readonly onLog: (text: string) => void;
}

interface BreakpointProbeOptions {
  /** Whether hits are counted and messages printed, as when time goes forward. */
  readonly counts: boolean;
  /** A time whose breakpoints have already stopped: continuing from there does not hit them again. */
  readonly seen?: number;
}

/** Finds the enabled breakpoints at an instruction before it is executed. */
export class BreakpointProbe implements Probe {
  readonly #context: BreakpointContext;
  readonly #counts: boolean;
  readonly #known: number;
  #at = new Map<IrFunction, Map<number, Breakpoint[]>>();
  #marks = new BlockMarks(() => false);
  #revision = -1;
  /** The breakpoints hit at the last instruction that the probe saw, and the time of it. */
  hits: readonly BreakpointHit[] = [];
  time = -1;

  constructor(context: BreakpointContext, { counts, seen = -1 }: BreakpointProbeOptions) {
    this.#context = context;
    this.#counts = counts;
    this.#known = seen;
    this.#refresh();
  }

  wants(group: Group): boolean {
    if (this.#revision !== this.#context.revision) this.#refresh();
    return this.#at.size > 0 && this.#marks.has(group.at);
  }

  before(moment: Moment): boolean {
    if (this.#context.now === this.#known) return false;
    const { code, index } = moment.site;
    const here = this.#at.get(code.ir)?.get(index) ?? [];
    this.time = this.#context.now;
    this.hits = here.flatMap((breakpoint) => this.#hit(breakpoint, moment) ?? []);
    return this.hits.length > 0;
  }

  after(): boolean {
    return false;
  }

  #refresh(): void {
    this.#revision = this.#context.revision;
    this.#at = new Map();
    for (const breakpoint of this.#context.breakpoints.values()) {
      if (!breakpoint.enabled) continue;
      for (const { ir, index } of breakpoint.locations) {
        let inFunction = this.#at.get(ir);
        if (inFunction === undefined) this.#at.set(ir, (inFunction = new Map()));
        inFunction.set(index, [...(inFunction.get(index) ?? []), breakpoint]);
      }
    }
    this.#marks = new BlockMarks(({ steps, terminator }) => {
      const sites = [...steps.map((step) => step.site), ...(terminator === null ? [] : [terminator.site])];
      return sites.some(({ code, index }) => this.#at.get(code.ir)?.has(index) === true);
    });
  }

  #hit(breakpoint: Breakpoint, moment: Moment): BreakpointHit | null {
    const { condition, hitCondition, logMessage } = breakpoint;
    const arriving = moment.group.mask;
    let lanes = arriving;
    try {
      if (condition !== null) lanes = lanesWhere(condition, this.#scopeOf(moment, 0), arriving);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return { breakpoint, lanes: arriving, error };
    }
    if (lanes === 0) return null;
    if (this.#counts) {
      breakpoint.hits++;
      if (hitCondition !== null && !meets(hitCondition, breakpoint.hits)) return null;
    }
    if (logMessage !== null) {
      const lane = lowestLane(lanes);
      if (this.#counts) this.#context.onLog(filledIn(logMessage, this.#scopeOf(moment, lane)));
      return null;
    }
    return { breakpoint, lanes, error: null };
  }

  #scopeOf({ warp, group, site }: Moment, lane: number): Scope {
    const context = this.#context;
    const { activation } = group;
    return new Scope(context.execution, { warp, lane, activation, index: site.index, level: levelOf(site) }, context);
  }
}
