import type { Moment } from "../interpreter/execution.ts";
import type { BasicBlock, Group } from "../machine/state/launch-state.ts";
import type { Probe } from "./probe.ts";

/** Caches for each basic block whether it contains anything of interest. */
export class BlockMarks {
  readonly #holds: (block: BasicBlock) => boolean;
  readonly #known = new Map<BasicBlock, boolean>();

  constructor(holds: (block: BasicBlock) => boolean) {
    this.#holds = holds;
  }

  has(block: BasicBlock): boolean {
    let known = this.#known.get(block);
    if (known === undefined) this.#known.set(block, (known = this.#holds(block)));
    return known;
  }
}

/** Combines probes: finds what any of them finds. Every probe sees each instruction that one of them wants to see. */
export class AnyProbe implements Probe {
  readonly #probes: readonly Probe[];

  constructor(probes: readonly Probe[]) {
    this.#probes = probes;
  }

  wants(group: Group): boolean {
    for (const probe of this.#probes) if (probe.wants(group)) return true;
    return false;
  }

  before(moment: Moment): boolean {
    let found = false;
    for (const probe of this.#probes) if (probe.before(moment)) found = true;
    return found;
  }

  after(moment: Moment): boolean {
    let found = false;
    for (const probe of this.#probes) if (probe.after(moment)) found = true;
    return found;
  }
}

/** Finds nothing. */
export const nothing: Probe = { wants: () => false, before: () => false, after: () => false };
