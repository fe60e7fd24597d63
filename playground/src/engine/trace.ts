import type { machine } from "lanewise";
import type { Moment, Probe } from "lanewise/debugger";
import { laneGroupsOf, placeOf } from "../../../examples/lane-trace.mjs";
import { shownName } from "./findings.ts";
import type { LaneGroupView, TraceSite, WarpTrace } from "./protocol.ts";

/** Turns of warps that are kept, and the time up to which a warp is followed that has nothing more to do. */
const maxTurns = 20_000;
const maxTime = 2_000_000;

/** Writes down what a warp does, while a debugger's timeline goes forward. */
export class WarpRecorder implements Probe {
  readonly #block: number;
  readonly #warp: number;
  readonly #most: number;
  readonly #now: () => number;
  readonly #time: number[] = [];
  readonly #site: number[] = [];
  readonly #arrangement: number[] = [];
  readonly #sites = new Index<TraceSite>();
  readonly #arrangements = new Index<readonly LaneGroupView[]>();
  readonly #turns: { block: number; warp: number; from: number; to: number }[] = [];
  #lanes = 0;

  constructor(watched: { block: number; warp: number; most: number }, now: () => number) {
    this.#block = watched.block;
    this.#warp = watched.warp;
    this.#most = watched.most;
    this.#now = now;
  }

  wants(): boolean {
    return true;
  }

  before({ warp, group, site }: Moment): boolean {
    this.#turn(warp);
    if (warp.cta.ticket !== this.#block || warp.index !== this.#warp) return this.#now() >= maxTime;
    if (this.#time.length >= this.#most) return true;
    this.#lanes = warp.lanes;
    this.#time.push(this.#now());
    this.#site.push(this.#sites.of(siteKey(site), () => siteView(site)));
    const groups = groupViews(warp, group);
    this.#arrangement.push(this.#arrangements.of(JSON.stringify(groups), () => groups));
    return false;
  }

  after(): boolean {
    return false;
  }

  #turn({ cta: { ticket: block }, index: warp }: machine.Warp): void {
    const now = this.#now();
    const last = this.#turns.at(-1);
    if (last !== undefined && last.block === block && last.warp === warp && last.to === now) last.to = now + 1;
    else if (this.#turns.length < maxTurns) this.#turns.push({ block, warp, from: now, to: now + 1 });
  }

  /** Everything so far. */
  trace(end: WarpTrace["end"], endTime: number): Omit<WarpTrace, "found" | "blocks" | "warps"> {
    return {
      block: this.#block,
      warp: this.#warp,
      lanes: this.#lanes,
      time: this.#time,
      site: this.#site,
      arrangement: this.#arrangement,
      sites: this.#sites.values,
      arrangements: this.#arrangements.values,
      turns: this.#turns,
      end,
      endTime,
    };
  }
}

/** Where lanes are. Groups of one activation and state are one: they may be at different instructions of it. */
function groupViews(warp: machine.Warp, running: machine.Group): readonly LaneGroupView[] {
  const views: { lanes: number; state: LaneGroupView["state"]; activation: machine.Activation }[] = [];
  for (const group of laneGroupsOf(warp, running)) {
    const same = views.find(({ state, activation }) => state === group.state && activation === group.activation);
    if (same === undefined) views.push({ ...group });
    else same.lanes |= group.lanes;
  }
  return views.map(({ lanes, state, activation }) => ({
    lanes,
    state,
    ...shownPlace(activation),
    stack: stackOf(activation),
  }));
}

/** Gives things that are the same one number. */
class Index<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<string, number>();

  of(key: string, make: () => T): number {
    let found = this.#numbers.get(key);
    if (found === undefined) this.#numbers.set(key, (found = this.values.push(make()) - 1));
    return found;
  }
}

const siteKey = (site: machine.Site): string => `${site.code.ir.name}+${site.index}`;

/** An instruction as the page shows it. */
export function siteView({ code, instruction }: machine.Site): TraceSite {
  const { source } = code.ir;
  return {
    path: source.path,
    line: source.position(instruction.span.start).line,
    text: source.slice(instruction.span).replace(/\s+/g, " "),
  };
}

function shownPlace(activation: machine.Activation): Pick<LaneGroupView, "function" | "depth"> {
  const { function: name, depth } = placeOf(activation);
  return { function: shownName(name), depth };
}

/**
 * The calls that have not returned, the outermost first. Where the lanes are in the innermost one is not part of it.
 */
function stackOf(activation: machine.Activation): LaneGroupView["stack"] {
  const stack: { function: string; line: number }[] = [];
  let at: machine.Site | null = null;
  for (let x: machine.Activation | null = activation; x !== null; at = x.callSite, x = x.caller) {
    const line = at === null ? 0 : at.code.ir.source.position(at.instruction.span.start).line;
    stack.unshift({ function: shownName(x.code.ir.name), line });
  }
  return stack;
}
