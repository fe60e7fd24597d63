import { mbarrierBits } from "../../ir/index.ts";
import type { AccessEvent, LaneEvent } from "../../machine/events.ts";
import { locate } from "../../machine/faults/locate.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { Page, Phase } from "./shadow.ts";

/**
 * The phase of an mbarrier before a lane accesses it; null if it is nowhere. Who finds a phase complete knows of those
 * that have arrived in it, and of no later arrivals, although in the order of the run it may read what these have left.
 * `writer`: the thread whose strong write left the value, or -1.
 */
export function phaseBefore(
  { activation, addresses }: LaneEvent & Pick<AccessEvent, "addresses">,
  lane: number,
  page: Page,
  cell: number,
  writer: number,
): Phase | null {
  const address = parts(addresses[lane]!);
  const place = locate(activation, lane, address);
  if (place === null) return null;
  const byte = place.views.u8[place.at + address.low - place.start + (mbarrierBits.parity >> 3)]!;
  const parity = (byte >> (mbarrierBits.parity & 7)) & 1;
  let phase = page.phases.get(cell);
  if (phase === undefined) page.phases.set(cell, (phase = { parity, value: null, writer: -1 }));
  if (phase.parity !== parity) Object.assign(phase, { parity, value: page.publishedAt(cell), writer });
  return phase;
}
