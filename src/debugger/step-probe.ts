import type { Moment } from "../interpreter/execution.ts";
import type { Site } from "../machine/state/code.ts";
import type { Group, Warp } from "../machine/state/launch-state.ts";
import type { Probe } from "./probe.ts";
import { levelOf, originOfSite, placeOf } from "./view/lane-place.ts";
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
  /** The function in focus, as an index in the origin of `from`: inlined functions are passed over like calls. */
  readonly level: number;
  /** What the machine executes next. */
  readonly next: () => Moment | null;
}

/** Whether this is the first IR instruction of an assembly instruction. */
const beginsInstruction = ({ code, index, instruction }: Site): boolean =>
  code.ir.instructions[index - 1]?.span.start !== instruction.span.start;

/** What a step over, or into, compares: the lines of the function in focus and of those around it, outwards. */
interface LineFrames {
  readonly site: Site;
  readonly level: number;
}

/** Returns the lines of an instruction, that of the outermost function first; null where there is no line. */
const linesOf = ({ site, level }: LineFrames): readonly (string | null)[] =>
  originOfSite(site)
    .slice(level)
    .map(({ path, line }) => (line === 0 ? null : `${line} ${path}`))
    .reverse();

/**
 * Whether an instruction is still on the line where a step began. A step over does not look into functions that are
 * inlined at a line of the present function.
 */
function sameLine(site: Site, { kind, from, level }: StepOptions): boolean {
  if (from === null || site.code.ir !== from.code.ir) return false;
  const [now, then] = [linesOf({ site, level: levelOf(site) }), linesOf({ site: from, level })];
  const depth = kind === "over" ? then.length : Math.max(now.length, then.length);
  // Code without a line belongs to the line before it.
  if (now.length === 0) return true;
  if (now.length < then.length) return false;
  for (let i = 0; i < depth; i++) {
    if (now[i] !== then[i] && now[i] !== null) return false;
  }
  return true;
}

const beginsLine = (site: Site): boolean => {
  const { index, code, instruction } = site;
  const before = code.ir.instructions[index - 1];
  if (before === undefined || instruction.location === null) return true;
  const [now, then] = [site, { code, index: index - 1, instruction: before }].map((at) =>
    linesOf({ site: at, level: levelOf(at) }).join(),
  );
  return now !== then;
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
    const { kind, granularity, depth } = this.options;
    if (kind === "out") return now < depth;
    if (kind === "over" && now > depth) return false;
    if (granularity === "source-line") return now !== depth || !sameLine(site, this.options);
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
      return beginsLine(moment.site) && (now !== depth || !sameLine(moment.site, this.#options));
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
