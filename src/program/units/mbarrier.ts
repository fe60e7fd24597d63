import { mbarrierBits as bits, type Space } from "../../ir/index.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Cta } from "../../machine/state/launch-state.ts";
import { addBytes, ownerOf, TransactionLog } from "../../machine/state/transaction-log.ts";
import { unitFault } from "./lanes.ts";
import type { Range, RangeKind, UnitCall } from "./unit-call.ts";

/*
 * What a unit does to an mbarrier when an asynchronous operation is complete: the complete-tx operation of section
 * 9.7.13.15.5. `ptx/isa/async/mbarrier-word.ts` has the same for `mbarrier.complete_tx`, as expressions.
 */

const txBias = 2 ** 20;

const field = (word: bigint, at: number, width: number): number =>
  Number((word >> BigInt(at)) & ((1n << BigInt(width)) - 1n));

/** Whether a word is an mbarrier. */
export const isValid = (word: bigint): boolean => field(word, bits.mark, 2) === 2;

/** "The complete-tx operation on the mbarrier has .release semantics at the .cluster scope" (9.7.9.25.4.1). */
const completion: RangeKind = { bits: 64, order: "release", scope: "cluster" };

/**
 * Finds an mbarrier that a lane names.
 *
 * @throws Fault if the lane must not access it
 */
export const mbarrierAt = (call: UnitCall, lane: number, space: Space, address: AddressParts): Range =>
  call.range({ lane, effect: "atomic", space, address, bytes: 8, align: 8, kind: completion });

/** Who asked for what the mbarrier counts. */
type Asker = Pick<UnitCall, "x" | "site"> & { readonly lane: number };

/**
 * Takes `bytes` transactions from an mbarrier, and begins its next phase if nothing is pending any more.
 *
 * @throws Fault if there is no mbarrier, or if it cannot count so many
 */
export function completeTransactions({ x, site, lane }: Asker, { views, at }: Range, bytes: number): void {
  const view = new DataView(views.u8.buffer, views.u8.byteOffset + at, 8);
  const word = view.getBigUint64(0, true);
  if (!isValid(word)) throw uninitialized({ x, site }, lane);
  if (bytes >= txBias || field(word, bits.transactions, 21) <= bytes) {
    const message = `${bytes} transactions are complete, more than an mbarrier can count: 1048575 beyond those that it expects`;
    throw unitFault({ x, site }, lane, "mbarrier-count-overflow", message);
  }
  const after = settled(word - (BigInt(bytes) << BigInt(bits.transactions)));
  view.setBigUint64(0, after, true);
  noteTransactions(x.warp.cta, site, { views, at }, [word, after]);
  signal(x.warp.cta);
}

/** An arrival at an mbarrier is pending beyond those that its phase expects. */
export function raisePending({ views, at }: Range): void {
  const view = new DataView(views.u8.buffer, views.u8.byteOffset + at, 8);
  view.setBigUint64(0, view.getBigUint64(0, true) + (1n << BigInt(bits.pending)), true);
}

/**
 * Arrives once at an mbarrier, for operations that are complete (`.mbarrier::arrive::one`).
 *
 * @throws Fault if there is no mbarrier, or if it expects no arrival
 */
export function arriveOnce({ x, site, lane }: Asker, { views, at }: Range): void {
  const view = new DataView(views.u8.buffer, views.u8.byteOffset + at, 8);
  const word = view.getBigUint64(0, true);
  if (!isValid(word)) throw uninitialized({ x, site }, lane);
  if (field(word, bits.pending, 20) === 0) {
    const message = "more threads arrive at the mbarrier than are pending in its phase";
    throw unitFault({ x, site }, lane, "mbarrier-count-overflow", message);
  }
  view.setBigUint64(0, settled(word - (1n << BigInt(bits.pending))), true);
  signal(x.warp.cta);
}

/** The word in the next phase if nothing is pending. */
const settled = (word: bigint): bigint =>
  field(word, bits.pending, 20) === 0 && field(word, bits.transactions, 21) === txBias
    ? (word ^ (1n << BigInt(bits.parity))) + (BigInt(field(word, bits.expected, 20)) << BigInt(bits.pending))
    : word;

const uninitialized = (at: Pick<UnitCall, "x" | "site">, lane: number) =>
  unitFault(
    at,
    lane,
    "mbarrier-uninitialized",
    "there is no mbarrier at the address: mbarrier.init has not been executed for it, or mbarrier.inval since",
  );

/** Notes which instruction has changed the transactions of an mbarrier, whose words before and after are given. */
export function noteTransactions(
  cta: Cta,
  site: Site,
  { views, at }: Range,
  [before, after]: readonly [bigint, bigint],
): void {
  const log = ownerOf(cta, views)?.units.of(TransactionLog);
  if (log === undefined) return;
  const isOther = !isValid(before) || !isValid(after);
  if (isOther || field(before, bits.parity, 1) !== field(after, bits.parity, 1)) log.clear(at);
  else {
    const bytes = field(after, bits.transactions, 21) - field(before, bits.transactions, 21);
    if (bytes > 0) addBytes(log.at(at).expected, site, bytes);
    else if (bytes < 0) addBytes(log.at(at).sent, site, -bytes);
  }
}

/** Something has changed that threads of any block of the cluster may wait for. */
export function signal(cta: Cta): void {
  cta.signalled = true;
  const { cluster } = cta;
  if (cluster.size === 1) return;
  for (let rank = 0; rank < cluster.size; rank++) {
    const block = cluster.block(rank);
    if (block !== null && typeof block !== "string") block.signalled = true;
  }
}
