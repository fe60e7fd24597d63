import { lowestLane, popcount } from "../../ir/lane-mask.ts";
import type { Warp } from "../../machine/state/launch-state.ts";
import { focusOn, warpOf } from "../focus.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { lanesText } from "../view/tables.ts";

/** A longer list of warps is of no use in an editor. */
const maxThreads = 256;

/** The warps of running blocks as an editor's threads. Each thread has a lane that the editor shows. */
export class Threads {
  readonly #session: Session;
  readonly #ids = new Map<string, number>();
  readonly #places = new Map<number, { readonly block: number; readonly warp: number }>();
  /**
   * By thread, the lane that the editor shows. Requests about frames of other lanes bring those into focus only
   * temporarily.
   */
  readonly #lanes = new Map<number, number>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** The id of the thread in focus. */
  get focused(): number {
    const { block, warp } = this.#session.focus;
    return this.#idOf(block, warp);
  }

  list(isRunning: boolean): readonly { readonly id: number; readonly name: string }[] {
    const all = this.#session.execution.blocks.flatMap((block) => block.warps.filter((warp) => warp.live !== 0));
    const mine = warpOf(this.#session.execution, this.#session.focus);
    const chosen = [...(mine === null || mine.live === 0 ? [] : [mine]), ...all.filter((warp) => warp !== mine)];
    if (chosen.length === 0) return [{ id: this.focused, name: "the program has ended" }];
    const shown = chosen.slice(0, maxThreads).sort((a, b) => a.cta.ticket - b.cta.ticket || a.index - b.index);
    return shown.map((warp) => {
      const id = this.#idOf(warp.cta.ticket, warp.index);
      const lane = this.#lanes.get(id) ?? null;
      return { id, name: isRunning ? nameOf(warp, null) : nameOf(warp, lane) + stateOf(warp) };
    });
  }

  /** Moves the focus to the lane that the editor shows of a thread. */
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

  /** Makes the lane in focus the one that the editor shows of its thread. */
  keep(): void {
    this.#lanes.set(this.focused, this.#session.focus.lane);
  }

  /** Forgets the lanes of threads, because time has moved. */
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

/** The distinguishing part comes first: editors have little room. `lane` is the one that is shown. */
function nameOf({ cta, index, lockstep }: Warp, lane: number | null): string {
  const what = `${lockstep ? "thread" : "warp"} ${index}${lane === null ? "" : ` lane ${lane}`}`;
  return `${what}, block (${cta.id.join(",")})`;
}

function stateOf({ live, groups }: Warp): string {
  const parts = groups.length > 1 ? `, in ${groups.length} parts` : "";
  const waits = groups.every((g) => g.wait !== null) ? ", waits" : "";
  return `: ${popcount(live) === 32 ? "32 lanes" : `lanes ${lanesText(live)}`}${parts}${waits}`;
}
