import type { Restore } from "../memory/checkpoint.ts";
import type { Views } from "../memory/views.ts";
import type { Site } from "./code.ts";
import type { Cta } from "./launch-state.ts";
import type { UnitState } from "./unit-state.ts";

/** Bytes by the instruction that has announced or sent them, in the present phase of an mbarrier. */
export interface Transactions {
  readonly expected: Map<Site, number>;
  readonly sent: Map<Site, number>;
}

const copyOf = (byMbarrier: ReadonlyMap<number, Transactions>): Map<number, Transactions> =>
  new Map(
    [...byMbarrier].map(([at, { expected, sent }]) => [at, { expected: new Map(expected), sent: new Map(sent) }]),
  );

/**
 * Which instructions have changed the transaction counts of the mbarriers of a block, for the report that a wait never
 * ends. The interpreter keeps it: every report is made there.
 */
export class TransactionLog implements UnitState {
  #byMbarrier = new Map<number, Transactions>();

  get stateBytes(): number {
    return 64 * this.#byMbarrier.size;
  }

  /** What is known of an mbarrier, by its byte in the block's shared memory. */
  at(mbarrier: number): Transactions {
    let found = this.#byMbarrier.get(mbarrier);
    if (found === undefined) this.#byMbarrier.set(mbarrier, (found = { expected: new Map(), sent: new Map() }));
    return found;
  }

  /** Another phase begins. */
  clear(mbarrier: number): void {
    this.#byMbarrier.delete(mbarrier);
  }

  checkpoint(): Restore {
    const kept = copyOf(this.#byMbarrier);
    return () => {
      this.#byMbarrier = copyOf(kept);
    };
  }
}

/** The block of the cluster that has some shared memory, or null. */
export function ownerOf(cta: Cta, views: Views): Cta | null {
  if (cta.shared === views) return cta;
  for (let rank = 0; rank < cta.cluster.size; rank++) {
    const block = cta.cluster.block(rank);
    if (block !== null && typeof block !== "string" && block.shared === views) return block;
  }
  return null;
}

/** Adds bytes to those of an instruction. */
export function addBytes(to: Map<Site, number>, site: Site, bytes: number): void {
  to.set(site, (to.get(site) ?? 0) + bytes);
}
