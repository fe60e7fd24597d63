import type { Restore } from "../memory/checkpoint.ts";
import type { AddressParts } from "../memory/address-space.ts";
import type { Views } from "../memory/views.ts";
import type { Site } from "./code.ts";
import type { Cta, Warp } from "./launch-state.ts";
import type { UnitState } from "./unit-state.ts";

/**
 * What tells that an asynchronous operation is complete: an mbarrier that counts its bytes (`mbarrier`); groups of the
 * thread's `cp.async` (`copies`) or bulk operations (`bulk`); groups of the warp's products of a warpgroup
 * (`products`); an arrival that the thread commits, for products, copies and shifts in tensor memory (`tensor`), which
 * have an order; the warp's wait for its loads from tensor memory or stores to it (`loads`, `stores`).
 */
export type Completion = "mbarrier" | "copies" | "bulk" | "products" | "tensor" | "loads" | "stores";

/** The completions by groups, which threads commit and wait for. */
export type GroupCompletion = Extract<Completion, "copies" | "bulk" | "products">;

/** What an asynchronous copy moves: addresses as the program gave them, of a tensor where the box begins in it. */
interface AsyncCopy {
  readonly from: AddressParts;
  readonly to: AddressParts;
  readonly bytes: number;
}

/** An asynchronous operation that a lane has issued, or the first of the lanes for which it was. */
export interface AsyncEffect {
  readonly warp: Warp;
  readonly lane: number;
  readonly site: Site;
  /** Says what it copies; null: what it does is no copy of memory. */
  readonly copy: (() => AsyncCopy) | null;
  readonly completion: Completion;
  /** The mbarriers that count it, by the bytes of memory where they are. */
  readonly mbarriers: readonly { readonly views: Views; readonly at: number }[];
  /** Other operations that take effect before it. */
  readonly after?: readonly AsyncEffect[];
  /** Reads what it copies, so that the source may change. */
  read(): void;
  /** Takes effect: writes, and completes. Throws a fault if it cannot be complete. */
  perform(): void;
}

/** What a lane has issued that groups count: what is in no group yet, and the groups, the oldest first. */
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

type GroupsOfWarps = Map<Warp, Groups[]>;

const groupCompletions = ["copies", "bulk", "products"] as const satisfies readonly GroupCompletion[];

const emptyGroups = (): Record<GroupCompletion, GroupsOfWarps> => ({
  copies: new Map(),
  bulk: new Map(),
  products: new Map(),
});

const copyOf = (groups: GroupsOfWarps): GroupsOfWarps =>
  new Map(
    [...groups].map(([warp, lanes]) => [
      warp,
      lanes.map((lane) => ({ open: [...lane.open], groups: lane.groups.map((group) => [...group]) })),
    ]),
  );

export const isGroup = (completion: Completion): completion is GroupCompletion =>
  (groupCompletions as readonly Completion[]).includes(completion);

/**
 * The asynchronous operations of a block that are issued and have not taken effect, where the schedule lets them take
 * effect as late as the program's waits allow. Those that do so at the same time do in the order in which they were
 * issued.
 */
export class PendingEffects implements UnitState {
  #effects: AsyncEffect[] = [];
  #groups = emptyGroups();

  get stateBytes(): number {
    return 64 * this.#effects.length;
  }

  issue(effect: AsyncEffect): void {
    this.#effects.push(effect);
    if (isGroup(effect.completion)) this.#groupsOf(effect.completion, effect.warp, effect.lane).open.push(effect);
  }

  /**
   * Those with a completion that are pending: of one lane, or of the whole block, whose lanes may have ordered them.
   */
  pending(completion: Completion, of: { readonly warp: Warp; readonly lane: number } | null): readonly AsyncEffect[] {
    return this.#effects.filter(
      (one) => one.completion === completion && (of === null || (one.warp === of.warp && one.lane === of.lane)),
    );
  }

  /** All that are pending, in the order in which they were issued. */
  get all(): readonly AsyncEffect[] {
    return this.#effects;
  }

  /** How many younger groups of its lane there are than the one that counts an operation; null: it is in none yet. */
  youngerGroups(effect: AsyncEffect): number | null {
    if (!isGroup(effect.completion)) return null;
    const { groups } = this.#groupsOf(effect.completion, effect.warp, effect.lane);
    const group = groups.findIndex((one) => one.includes(effect));
    return group < 0 ? null : groups.length - 1 - group;
  }

  /** A lane makes a group of what it has issued. */
  commit(completion: GroupCompletion, warp: Warp, lane: number): void {
    const lanes = this.#groupsOf(completion, warp, lane);
    lanes.groups.push(lanes.open);
    lanes.open = [];
  }

  /** A lane waits until at most `pending` of its groups are not complete. */
  await(completion: GroupCompletion, warp: Warp, lane: number, pending: number): void {
    const { groups } = this.#groupsOf(completion, warp, lane);
    this.#perform(new Set(groups.splice(0, Math.max(0, groups.length - pending)).flat()));
  }

  /** A lane waits until at most `pending` of its bulk groups have not read their sources. */
  awaitReads(warp: Warp, lane: number, pending: number): void {
    const { groups } = this.#groupsOf("bulk", warp, lane);
    for (const effect of groups.slice(0, Math.max(0, groups.length - pending)).flat()) effect.read();
  }

  /** Everything of a warp with a completion takes effect. */
  completeOf(completion: Completion, warp: Warp): void {
    this.#perform(new Set(this.#effects.filter((one) => one.completion === completion && one.warp === warp)));
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
    const groups = groupCompletions.map((one) => [one, copyOf(this.#groups[one])] as const);
    return () => {
      this.#effects = [...effects];
      for (const [completion, kept] of groups) this.#groups[completion] = copyOf(kept);
    };
  }

  #perform(which: Set<AsyncEffect>): void {
    if (which.size === 0) return;
    // A set goes on with what is added to it.
    for (const effect of which) for (const before of effect.after ?? []) which.add(before);
    const due = this.#effects.filter((effect) => which.has(effect));
    this.#effects = this.#effects.filter((effect) => !which.has(effect));
    for (const effect of due) effect.perform();
  }

  #groupsOf(completion: GroupCompletion, warp: Warp, lane: number): Groups {
    const byWarp = this.#groups[completion];
    let lanes = byWarp.get(warp);
    if (lanes === undefined) byWarp.set(warp, (lanes = []));
    return (lanes[lane] ??= { open: [], groups: [] });
  }
}
