import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { Cta } from "../../machine/state/launch-state.ts";
import { awaitsCluster, mbarrierDeadlock } from "../../program/deadlock.ts";

/** Turns of a block in which nobody does anything but ask for phases, after which none will ever be complete. */
const patience = 200;

/**
 * Finds blocks that wait for an mbarrier forever. Waits are loops, in which a thread asks again and again whether a
 * phase is complete; only threads of its cluster can complete it. If turn after turn all threads have asked in vain or
 * wait at barriers, and no mbarrier has changed, nobody is left to do so. A thread that stops asking after some time
 * has gone on long before.
 */
export class Stalls {
  #turns = new WeakMap<Cta, number>();

  /**
   * A block has had a turn. Throws a fault when it waits forever, and so do all that are resident with it: a loop may
   * look at what other blocks do, too.
   */
  turn(cta: Cta, blocks: readonly Cta[]): void {
    const turns = isStalled(cta) ? (this.#turns.get(cta) ?? 0) + 1 : 0;
    if (turns > 0 || this.#turns.has(cta)) this.#turns.set(cta, turns);
    const polls = cta.warps.some(({ polled, live }) => (polled & live) !== 0);
    if (polls && turns > patience && blocks.every((block) => (this.#turns.get(block) ?? 0) > patience)) {
      throw mbarrierDeadlock(cta);
    }
    cta.signalled = false;
    for (const warp of cta.warps) warp.polled = 0;
  }

  /** The count begins again after a restored checkpoint: it only decides when a fault is found. */
  checkpoint(): Restore {
    return () => {
      this.#turns = new WeakMap();
    };
  }
}

function isStalled(cta: Cta): boolean {
  const { signalled, warps } = cta;
  if (signalled || (warps.every(({ polled }) => polled === 0) && !awaitsCluster(cta))) return false;
  return warps.every(
    ({ polled, live, groups }) =>
      live === 0 || groups.every(({ wait, mask }) => wait !== null || (mask & live & ~polled) === 0),
  );
}
