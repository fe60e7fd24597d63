import type { UnitOpOf } from "../../ir/index.ts";
import { lanesIn } from "../../ir/lane-mask.ts";
import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { UnitState } from "../../machine/state/unit-state.ts";
import type { UnitCall } from "./unit-call.ts";

/**
 * What a thread has offered, how often, and the dwords of the last two times: the other thread is at most one behind.
 */
interface Offers {
  count: number;
  readonly last: [even: Int32Array, odd: Int32Array];
}

const none = (): Offers => ({ count: 0, last: [new Int32Array(), new Int32Array()] });

/**
 * Registers that threads of a group share with the one that they are fused with: the next of an even number, and the
 * one before of an odd number (DPASW).
 */
class FusedThreads implements UnitState {
  #offers = new Map<number, Offers>();

  get stateBytes(): number {
    return this.#offers.size * 512;
  }

  of(thread: number): Offers {
    let offers = this.#offers.get(thread);
    if (offers === undefined) this.#offers.set(thread, (offers = none()));
    return offers;
  }

  checkpoint(): Restore {
    const kept = [...this.#offers].map(([thread, { count, last }]) => [thread, count, [...last]] as const);
    return () => {
      this.#offers = new Map(kept.map(([thread, count, [even, odd]]) => [thread, { count, last: [even!, odd!] }]));
    };
  }
}

/** A thread offers registers to the other of its pair, which may have to wait for them. */
export function offerToFused({ dwords }: UnitOpOf<"fused-offer">, call: UnitCall): void {
  const { cta, index } = call.x.warp;
  const [lane] = lanesIn(call.lanes);
  const offers = cta.units.of(FusedThreads).of(index);
  offers.count++;
  offers.last[offers.count & 1] = Int32Array.from({ length: dwords }, (_, n) => call.word(n, lane!));
  cta.signalled = true;
}

/** A thread takes the registers that both of its pair have offered; it has to ask again while the other has not. */
export function takeFromFused({ first, second }: UnitOpOf<"fused-take">, call: UnitCall): void {
  const { warp } = call.x;
  const threads = warp.cta.units.of(FusedThreads);
  const [even, odd] = [threads.of(warp.index & ~1), threads.of(warp.index | 1)];
  const { count } = threads.of(warp.index);
  const isThere = Math.min(even.count, odd.count) >= count;
  if (!isThere) {
    // All lanes of the thread wait, whichever one asks.
    warp.polled = warp.live;
    warp.pollSite = call.site;
  }
  const taken = [...even.last[count & 1]!.subarray(0, first), ...odd.last[count & 1]!.subarray(0, second)];
  for (const lane of lanesIn(call.lanes)) {
    call.give(0, lane, isThere ? 1 : 0);
    for (let n = 0; n < first + second; n++) call.give(1 + n, lane, isThere ? taken[n]! : 0);
  }
}
