import type { Restore } from "../memory/checkpoint.ts";
import type { Views } from "../memory/views.ts";
import type { Cta, Warp } from "./launch-state.ts";
import type { UnitState } from "./unit-state.ts";

/** An asynchronous operation that a lane has issued. */
export interface AsyncEffect {
  readonly warp: Warp;
  readonly lane: number;
  /** The mbarriers that count it, by the bytes of memory where they are; none: a bulk group of the lane counts it. */
  readonly mbarriers: readonly { readonly views: Views; readonly at: number }[];
  /** Reads what it copies, so that the source may change. */
  read(): void;
  /** Takes effect: writes, and completes. Throws a fault if it cannot be complete. */
  perform(): void;
}

/** What a lane has issued that bulk groups count: what is in no group yet, and the groups, the oldest first. */
interface Groups {
  open: AsyncEffect[];
  groups: AsyncEffect[][];
}

/**
 * A thread of a block waits for an mbarrier in vain: what it counts takes effect, of all blocks of the cluster. Returns
 * whether there was anything.
 */
export function completeFor(cta: Cta, views: Views, at: number): boolean {
  const { cluster } = cta;
  let any = cta.units.existing(PendingEffects)?.completeAt(views, at) === true;
  for (let rank = 0; rank < cluster.size; rank++) {
    const block = cluster.block(rank);
    if (block === null || typeof block === "string" || block === cta) continue;
    if (block.units.existing(PendingEffects)?.completeAt(views, at) === true) any = true;
  }
  return any;
}

const copyOf = (groups: ReadonlyMap<Warp, Groups[]>): Map<Warp, Groups[]> =>
  new Map(
    [...groups].map(([warp, lanes]) => [
      warp,
      lanes.map((lane) => ({ open: [...lane.open], groups: lane.groups.map((group) => [...group]) })),
    ]),
  );

/**
 * The asynchronous operations of a block that are issued and have not taken effect, where the schedule lets them take
 * effect as late as the program's waits allow. They do so in the order in which they were issued.
 */
export class PendingEffects implements UnitState {
  #effects: AsyncEffect[] = [];
  #groups = new Map<Warp, Groups[]>();

  get stateBytes(): number {
    return 64 * this.#effects.length;
  }

  issue(effect: AsyncEffect): void {
    this.#effects.push(effect);
    if (effect.mbarriers.length === 0) this.#groupsOf(effect.warp, effect.lane).open.push(effect);
  }

  /** A lane makes a group of what it has issued (`cp.async.bulk.commit_group`). */
  commit(warp: Warp, lane: number): void {
    const lanes = this.#groupsOf(warp, lane);
    lanes.groups.push(lanes.open);
    lanes.open = [];
  }

  /**
   * A lane waits until at most `pending` of its groups are not complete, or with `read` have not read their sources.
   */
  await(warp: Warp, lane: number, pending: number, read: boolean): void {
    const { groups } = this.#groupsOf(warp, lane);
    const waited = groups.slice(0, Math.max(0, groups.length - pending));
    if (read) for (const effect of waited.flat()) effect.read();
    else {
      groups.splice(0, waited.length);
      this.#perform(new Set(waited.flat()));
    }
  }

  /** A lane waits for an mbarrier in vain: what it counts takes effect. Returns whether there was anything. */
  completeAt(views: Views, at: number): boolean {
    const found = this.#effects.filter(({ mbarriers }) => mbarriers.some((m) => m.views === views && m.at === at));
    this.#perform(new Set(found));
    return found.length > 0;
  }

  /** Everything takes effect. Returns whether there was anything. */
  completeAll(): boolean {
    const any = this.#effects.length > 0;
    this.#perform(new Set(this.#effects));
    return any;
  }

  checkpoint(): Restore {
    const effects = [...this.#effects];
    const groups = copyOf(this.#groups);
    return () => {
      this.#effects = [...effects];
      this.#groups = copyOf(groups);
    };
  }

  #perform(which: ReadonlySet<AsyncEffect>): void {
    if (which.size === 0) return;
    const due = this.#effects.filter((effect) => which.has(effect));
    this.#effects = this.#effects.filter((effect) => !which.has(effect));
    for (const effect of due) effect.perform();
  }

  #groupsOf(warp: Warp, lane: number): Groups {
    let lanes = this.#groups.get(warp);
    if (lanes === undefined) this.#groups.set(warp, (lanes = []));
    return (lanes[lane] ??= { open: [], groups: [] });
  }
}
