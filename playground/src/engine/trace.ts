import { type machine, sanitizerNames } from "lanewise";
import { launchesOf, type Moment, type Probe, Session } from "lanewise/debugger";
import { laneGroupsOf, placeOf } from "../../../examples/lane-trace.mjs";
import { shownName } from "./findings.ts";
import { findingsOfError, openRun } from "./program.ts";
import type { EngineRequests, LaneGroupView, Program, TraceSite, WarpTrace } from "./protocol.ts";

/** Writes down what a warp does, while a debugger's timeline goes forward. */
class WarpRecorder implements Probe {
  readonly #block: number;
  readonly #warp: number;
  readonly #most: number;
  readonly #now: () => number;
  readonly #time: number[] = [];
  readonly #site: number[] = [];
  readonly #arrangement: number[] = [];
  readonly #sites = new Index<TraceSite>();
  readonly #arrangements = new Index<readonly LaneGroupView[]>();
  #lanes = 0;

  constructor(watched: { block: number; warp: number; most: number }, now: () => number) {
    this.#block = watched.block;
    this.#warp = watched.warp;
    this.#most = watched.most;
    this.#now = now;
  }

  wants({ activation: { warp } }: machine.Group): boolean {
    return warp.cta.ticket === this.#block && warp.index === this.#warp;
  }

  before({ warp, group, site }: Moment): boolean {
    if (this.#time.length >= this.#most) return true;
    this.#lanes = warp.lanes;
    this.#time.push(this.#now());
    this.#site.push(this.#sites.of(siteKey(site), () => siteView(site)));
    const groups = laneGroupsOf(warp, group).map(({ lanes, state, activation }) => ({
      lanes,
      state,
      ...shownPlace(activation),
      stack: stackOf(activation),
    }));
    this.#arrangement.push(this.#arrangements.of(JSON.stringify(groups), () => groups));
    return false;
  }

  after(): boolean {
    return false;
  }

  /** Everything so far. */
  trace(end: WarpTrace["end"], endTime: number): WarpTrace {
    return {
      block: this.#block,
      warp: this.#warp,
      lanes: this.#lanes,
      time: this.#time,
      site: this.#site,
      arrangement: this.#arrangement,
      sites: this.#sites.values,
      arrangements: this.#arrangements.values,
      end,
      endTime,
    };
  }
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

function siteView({ code, instruction }: machine.Site): TraceSite {
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

/** The calls that have not returned, the outermost first. Where the lanes are in the innermost one is not part of it. */
function stackOf(activation: machine.Activation): LaneGroupView["stack"] {
  const stack: { function: string; line: number }[] = [];
  let at: machine.Site | null = null;
  for (let x: machine.Activation | null = activation; x !== null; at = x.callSite, x = x.caller) {
    const line = at === null ? 0 : at.code.ir.source.position(at.instruction.span.start).line;
    stack.unshift({ function: shownName(x.code.ir.name), line });
  }
  return stack;
}

/** Runs the program to its end, or until there are enough steps, and returns what the warp did. */
export async function traceWarp({
  program,
  block,
  warp,
  most,
  sanitize,
}: EngineRequests["trace"]["args"]): Promise<EngineRequests["trace"]["result"]> {
  try {
    const session = await openSession(program, sanitize);
    const recorder = new WarpRecorder({ block, warp, most }, () => session.now);
    const search = session.timeline.forward(recorder, { here: true });
    for (;;) {
      const { done, value } = search.next();
      if (!done) continue;
      const { end } = session.timeline;
      return recorder.trace(value === "probe" ? "limit" : (end?.kind ?? "limit"), session.now);
    }
  } catch (error) {
    return findingsOfError(error);
  }
}

/** The program under a debugger. */
async function openSession(program: Program, sanitize: boolean): Promise<Session> {
  const run = await openRun(program, { sanitize: new Set(sanitize ? sanitizerNames : []), maxSteps: null });
  return new Session(run.device.memory, launchesOf(run), { stopOnReports: false });
}
