import { mbarrierBits as at, windows } from "../../ir/index.ts";
import type { Cta } from "../../machine/state/launch-state.ts";

/** What the 64 bits of an mbarrier say. */
export interface MbarrierView {
  /** The address in shared memory, as a program has it. */
  readonly address: number;
  /** The parity of the current phase: a wait for the other one succeeds. */
  readonly parity: 0 | 1;
  /** Arrivals that the current phase still waits for. */
  readonly pending: number;
  /** Arrivals that each phase expects. */
  readonly expected: number;
  /**
   * Bytes of asynchronous operations that the current phase still waits for; negative: more came than were expected.
   */
  readonly transactions: number;
}

const bits = (word: bigint, from: number, count: number): number => Number(BigInt.asUintN(count, word >> BigInt(from)));

/** Arrivals that an mbarrier of a real program expects at most: those of a cluster's threads. */
const plausibleArrivals = 16 * 1024;
/** Bytes that are in flight at most for one: all of the shared memory of a cluster. */
const plausibleBytes = 16 * 256 * 1024;

/** Returns what a word says if it is an mbarrier, or null. */
export function mbarrierOf(word: bigint, address: number): MbarrierView | null {
  if (bits(word, at.mark, 2) !== 2) return null;
  const parity = bits(word, at.parity, 1) as 0 | 1;
  const pending = bits(word, at.pending, 20);
  const expected = bits(word, at.expected, 20);
  const transactions = bits(word, at.transactions, at.parity - at.transactions) - 2 ** 20;
  return { address, parity, pending, expected, transactions };
}

/**
 * Returns the words in a block's shared memory that are mbarriers, by what they hold: data with the same bits is taken
 * for one, too.
 */
export function mbarriersOf({ shared: { i64 } }: Cta): readonly MbarrierView[] {
  const found: MbarrierView[] = [];
  for (const [i, word] of i64.entries()) {
    const one = mbarrierOf(word, windows.shared.start + 8 * i);
    if (one === null || one.expected === 0 || one.expected > plausibleArrivals) continue;
    if (one.pending > one.expected || Math.abs(one.transactions) > plausibleBytes) continue;
    found.push(one);
  }
  return found;
}

/** Says in words what the current phase of an mbarrier waits for. */
export function mbarrierText({ parity, pending, expected, transactions }: MbarrierView): string {
  const bytes =
    transactions === 0
      ? ""
      : transactions > 0
        ? `, ${transactions} bytes to come`
        : `, ${-transactions} bytes more than were expected so far`;
  return `phase of parity ${parity}: ${expected - pending} of ${expected} arrivals${bytes}`;
}
