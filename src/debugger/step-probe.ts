import type { Moment } from "../interpreter/execution.ts";
import type { Site } from "../machine/code.ts";
import type { Group } from "../machine/group.ts";
import type { Warp } from "../machine/warp.ts";
import type { Probe } from "./probe.ts";
import { originPlace, placeOf } from "./view/lane-place.ts";
import type { LaneId } from "./watchpoint.ts";

/** Whose next instruction a step waits for. */
export type Scope = "lane" | "warp" | "block" | "machine";

/** How far a step goes: to the next instruction of the assembly, or of another line of the source that it comes from. */
export type Granularity = "instruction" | "source-line";

export type StepKind = "into" | "over" | "out";

interface StepOptions {
  readonly kind: StepKind;
  readonly scope: Scope;
  readonly granularity: Granularity;
  readonly focus: LaneId;
  /** How many calls deep the lane is, and what it executes next. */
  readonly depth: number;
  readonly from: Site | null;
  /** What the machine executes next. */
  readonly next: () => Moment | null;
}

/** The first of the IR's instructions that one of the assembly became. */
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

/** Finds a place behind an instruction of the focus. */
abstract class ForwardProbe implements Probe {
  protected readonly options: StepOptions;
  #isMine = false;

  constructor(options: StepOptions) {
    this.options = options;
  }

  wants({ activation: { warp } }: Group): boolean {
    return isWarpOf(warp, this.options);
  }

  /** The group is another one when it has executed the instruction. */
  before(moment: Moment): boolean {
    this.#isMine = isOf(moment, this.options);
    return false;
  }

  after(moment: Moment): boolean {
    return this.#isMine && this.isThere(moment);
  }

  /** Whether the focus, which has executed an instruction, has come to the place. */
  protected abstract isThere(moment: Moment): boolean;
}

/** Finds the end of a step forward: behind an instruction of the focus, where it stands well. */
export class StepProbe extends ForwardProbe {
  protected isThere(moment: Moment): boolean {
    const { scope, kind, granularity, focus, depth, from, next } = this.options;
    if (scope !== "lane") return next() === null || beginsInstruction(next()!.site);
    const place = placeOf(moment.warp, focus.lane, next());
    // It has ended: there is nothing more to come.
    if (place.site === null || place.activation === null) return true;
    if (place.state === "returned") return false;
    const now = place.activation.depth;
    if (kind === "out") return now < depth;
    if (kind === "over" && now > depth) return false;
    if (granularity === "source-line") return now !== depth || from === null || !sameLine(place.site, from);
    return beginsInstruction(place.site);
  }
}

/** Finds the beginning of a step backward: the last instruction of the focus, before it is executed. */
export class ReverseStepProbe implements Probe {
  readonly #options: StepOptions;

  constructor(options: StepOptions) {
    this.#options = options;
  }

  wants({ activation: { warp } }: Group): boolean {
    return isWarpOf(warp, this.#options);
  }

  before(moment: Moment): boolean {
    const { scope, kind, granularity, depth, from } = this.#options;
    if (!isOf(moment, this.#options)) return false;
    if (scope !== "lane") return beginsInstruction(moment.site);
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

/** Whether the scope may be concerned with what a warp does. */
function isWarpOf(warp: Warp, { scope, focus }: StepOptions): boolean {
  if (scope === "machine") return true;
  return warp.cta.ticket === focus.block && (scope === "block" || warp.index === focus.warp);
}

/** Whether a moment is one of the scope. */
const isOf = ({ warp, group }: Moment, options: StepOptions): boolean =>
  isWarpOf(warp, options) && (options.scope !== "lane" || ((group.mask >>> options.focus.lane) & 1) !== 0);

/** Finds the lane at one of some places, or behind its function: `until`. */
export class UntilProbe extends ForwardProbe {
  readonly #isPlace: (site: Site) => boolean;

  constructor(options: StepOptions, isPlace: (site: Site) => boolean) {
    super(options);
    this.#isPlace = isPlace;
  }

  protected isThere(moment: Moment): boolean {
    const { focus, depth, next } = this.options;
    const { site, activation, state } = placeOf(moment.warp, focus.lane, next());
    if (site === null || activation === null) return true;
    if (state === "returned") return false;
    return activation.depth < depth || (activation.depth === depth && this.#isPlace(site));
  }
}
