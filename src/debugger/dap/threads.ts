import { lowestLane, popcount } from "../../ir/lane-mask.ts";
import type { Warp } from "../../machine/state/launch-state.ts";
import { focusOn, warpOf } from "../focus.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { lanesText } from "../view/tables.ts";

/** More warps than this are of no use in an editor's list. */
const mostThreads = 256;

/** Warps of the blocks that run, as an editor's threads; each has a lane that is looked at. */
export class Threads {
  readonly #session: Session;
  readonly #ids = new Map<string, number>();
  readonly #places = new Map<number, { readonly block: number; readonly warp: number }>();
  /** By thread, the lane that is looked at: requests about frames of others bring these into focus only for themselves. */
  readonly #lanes = new Map<number, number>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** The thread in focus. */
  get focused(): number {
    const { block, warp } = this.#session.focus;
    return this.#idOf(block, warp);
  }

  list(isRunning: boolean): readonly { readonly id: number; readonly name: string }[] {
    const all = this.#session.execution.blocks.flatMap((block) => block.warps.filter((warp) => warp.live !== 0));
    const mine = warpOf(this.#session.execution, this.#session.focus);
    const chosen = [...(mine === null || mine.live === 0 ? [] : [mine]), ...all.filter((warp) => warp !== mine)];
    if (chosen.length === 0) return [{ id: this.focused, name: "the program has ended" }];
    const shown = chosen.slice(0, mostThreads).sort((a, b) => a.cta.ticket - b.cta.ticket || a.index - b.index);
    return shown.map((warp) => {
      const id = this.#idOf(warp.cta.ticket, warp.index);
      const lane = this.#lanes.get(id) ?? null;
      return { id, name: isRunning ? nameOf(warp, null) : nameOf(warp, lane) + stateOf(warp) };
    });
  }

  /** Brings the lane that is looked at in a thread into focus. */
  select(id: number): void {
    const place = this.#places.get(id);
    if (place === undefined) throw new DebuggerError(`there is no thread ${id}`);
    const { focus, moment, execution } = this.#session;
    const warp = warpOf(execution, { ...place, lane: 0 });
    const lane = this.#lanes.get(id) ?? (moment?.warp === warp ? focusOn(moment!).lane : firstLane(warp));
    if (focus.block === place.block && focus.warp === place.warp && focus.lane === lane) return;
    this.#session.focus = { ...place, lane, frame: 0 };
  }

  focusLane(lane: number): { readonly threadId: number; readonly lane: number } {
    const session = this.#session;
    if (!Number.isInteger(lane) || lane < 0 || lane > 31) throw new DebuggerError(`there is no lane ${lane}`);
    session.focus = { ...session.focus, lane, frame: 0 };
    this.keep();
    return { threadId: this.focused, lane };
  }

  /** The lane in focus is the one that is looked at in its thread. */
  keep(): void {
    this.#lanes.set(this.focused, this.#session.focus.lane);
  }

  /** Time has gone on: the lanes are elsewhere. */
  forget(): void {
    this.#lanes.clear();
    this.keep();
  }

  #idOf(block: number, warp: number): number {
    const key = `${block}/${warp}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#ids.size + 1;
      this.#ids.set(key, id);
      this.#places.set(id, { block, warp });
    }
    return id;
  }
}

function firstLane(warp: Warp | null): number {
  const mask = warp?.groups[0]?.mask ?? warp?.lanes ?? 1;
  return lowestLane(mask);
}

/** What tells it from others comes first: editors have little room. `lane`: the one that is looked at. */
function nameOf({ cta, index, lockstep }: Warp, lane: number | null): string {
  const what = `${lockstep ? "thread" : "warp"} ${index}${lane === null ? "" : ` lane ${lane}`}`;
  return `${what}, block (${cta.id.join(",")})`;
}

function stateOf({ live, groups }: Warp): string {
  const parts = groups.length > 1 ? `, in ${groups.length} parts` : "";
  const waits = groups.every((g) => g.wait !== null) ? ", waits" : "";
  return `: ${popcount(live) === 32 ? "32 lanes" : `lanes ${lanesText(live)}`}${parts}${waits}`;
}
