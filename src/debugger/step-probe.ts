import type { Moment } from "../interpreter/execution.ts";
import type { Site } from "../machine/state/code.ts";
import type { Group, Warp } from "../machine/state/launch-state.ts";
import type { Probe } from "./probe.ts";
import { originPlace, placeOf } from "./view/lane-place.ts";
import type { LaneId } from "./watchpoint.ts";

/**
 * Whose next instruction ends a step: that of the lane in focus, or of any lane of its warp, of its block, or of the
 * machine.
 */
export type Scope = "lane" | "warp" | "block" | "machine";

/**
 * How far a step goes: to the next instruction of the assembly, or to another line of the source that it was generated
 * from.
 */
export type Granularity = "instruction" | "source-line";

/** What a step does about calls: enters them, passes over them, or leaves the present function. */
export type StepKind = "into" | "over" | "out";

/** A step, and where it begins. */
export interface StepOptions {
  readonly kind: StepKind;
  readonly scope: Scope;
  readonly granularity: Granularity;
  readonly focus: LaneId;
  /** How many calls deep the lane is. */
  readonly depth: number;
  /** What the lane executes next. */
  readonly from: Site | null;
  /** What the machine executes next. */
  readonly next: () => Moment | null;
}

/** Whether this is the first IR instruction of an assembly instruction. */
const beginsInstruction = ({ code, index, instruction }: Site): boolean =>
  code.ir.instructions[index - 1]?.span.start !== instruction.span.start;

function sameLine(a: Site, b: Site): boolean {
  const [p, q] = [originPlace(a), originPlace(b)];
  return a.code.ir === b.code.ir && p?.line === q?.line && p?.path === q?.path;
}

const beginsLine = (site: Site): boolean => {
  const { index, code, instruction } = site;
  const before = code.ir.instructions[index - 1]?.location;
  return before?.line !== instruction.location?.line || before?.file !== instruction.location?.file;
};

/** Finds where a step forward ends. */
abstract class ForwardProbe implements Probe {
  protected readonly options: StepOptions;
  #isMine = false;
  /** The lane waits for other lanes. */
  #waits = false;

  constructor(options: StepOptions) {
    this.options = options;
  }

  wants({ activation: { warp } }: Group): boolean {
    return isWarpOf(warp, this.options);
  }

  /**
   * A step of a warp or more ends before the next instruction there, whichever lanes execute it; a step of a lane that
   * has waited ends before the lane continues.
   */
  before(moment: Moment): boolean {
    this.#isMine = isOf(moment, this.options);
    const mayEnd = this.#isMine && (this.options.scope !== "lane" || this.#waits);
    return mayEnd && this.isThere(moment.site, moment.group.activation.depth);
  }

  /**
   * A step of a lane ends after one of its instructions, unless the lane now waits. The next instruction may be that of
   * others.
   */
  after(moment: Moment): boolean {
    if (!this.#isMine) return false;
    const { scope, focus, next } = this.options;
    if (scope !== "lane") return hasEnded(moment.warp, scope);
    const { site, activation, state } = placeOf(moment.warp, focus.lane, next());
    // The lane has ended.
    if (site === null || activation === null) return true;
    this.#waits = state === "barrier" || state === "lanes" || state === "returned";
    return !this.#waits && this.isThere(site, activation.depth);
  }

  /** Whether the step may end at an instruction, so many calls deep. */
  protected abstract isThere(site: Site, depth: number): boolean;
}

/** Finds the end of a forward step. */
export class StepProbe extends ForwardProbe {
  protected isThere(site: Site, now: number): boolean {
    const { kind, granularity, depth, from } = this.options;
    if (kind === "out") return now < depth;
    if (kind === "over" && now > depth) return false;
    if (granularity === "source-line") return now !== depth || from === null || !sameLine(site, from);
    return beginsInstruction(site);
  }
}

/** Finds the beginning of a backward step: the last instruction of what is in focus, before it is executed. */
export class ReverseStepProbe implements Probe {
  readonly #options: StepOptions;

  constructor(options: StepOptions) {
    this.#options = options;
  }

  wants({ activation: { warp } }: Group): boolean {
    return isWarpOf(warp, this.#options);
  }

  before(moment: Moment): boolean {
    const { kind, granularity, depth, from } = this.#options;
    if (!isOf(moment, this.#options)) return false;
    const now = moment.group.activation.depth;
    if (kind === "out") return now < depth;
    if (kind === "over" && now > depth) return false;
    if (granularity === "source-line" && from !== null) {
      return beginsLine(moment.site) && (now !== depth || !sameLine(moment.site, from));
    }
    return beginsInstruction(moment.site);
  }

  after(): boolean {
    return false;
  }
}

/** Finds the first lane in scope that reaches one of some places, or that leaves the function. */
export class UntilProbe extends ForwardProbe {
  readonly #isPlace: (site: Site) => boolean;

  constructor(options: StepOptions, isPlace: (site: Site) => boolean) {
    super(options);
    this.#isPlace = isPlace;
  }

  protected isThere(site: Site, now: number): boolean {
    const { depth } = this.options;
    return now < depth || (now === depth && this.#isPlace(site));
  }
}

/** Whether a warp is in scope. */
function isWarpOf(warp: Warp, { scope, focus }: StepOptions): boolean {
  if (scope === "machine") return true;
  return warp.cta.ticket === focus.block && (scope === "block" || warp.index === focus.warp);
}

/** Whether a moment belongs to the scope. */
const isOf = ({ warp, group }: Moment, options: StepOptions): boolean =>
  isWarpOf(warp, options) && (options.scope !== "lane" || ((group.mask >>> options.focus.lane) & 1) !== 0);

/** Whether a warp, or its block, has ended. */
const hasEnded = (warp: Warp, scope: Scope): boolean =>
  (scope === "warp" && warp.live === 0) || (scope === "block" && warp.cta.liveWarps === 0);
