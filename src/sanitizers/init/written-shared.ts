import { makesMbarrier } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, LaneEvent, Observer, RangeEvent } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Cta } from "../../machine/state/launch-state.ts";

/**
 * Finds out whether bytes of shared memory are read that were never written. What a program does with them is not
 * known, so that there may be nothing to report.
 */
export class WrittenShared implements Observer {
  readonly #found: () => void;
  readonly #written = new Map<Cta, Uint8Array>();

  constructor(found: () => void) {
    this.#found = found;
  }

  blockBegin(cta: Cta): void {
    const known = this.#written.get(cta);
    if (known === undefined) this.#written.set(cta, new Uint8Array(cta.shared.u8.length));
    else known.fill(0);
  }

  access(e: AccessEvent): void {
    const bytes = accessBytes(e.access);
    const { addressWords: words } = e;
    const effect = makesMbarrier(e.site.instruction.op) ? "store" : e.effect;
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      this.#access(e, effect, lane, { low: words[2 * lane]! >>> 0, high: words[2 * lane + 1]! >>> 0 }, bytes);
    }
  }

  range(e: RangeEvent): void {
    this.#access(e, e.effect, e.lane, e.address, accessBytes(e.access));
  }

  #access(e: LaneEvent, effect: AccessEvent["effect"], lane: number, address: AddressParts, bytes: number): void {
    const place = locate(e.activation, lane, address);
    if (place?.kind !== "shared") return;
    const written = this.#written.get(place.owner ?? e.warp.cta)!;
    const start = place.at + address.low - place.start;
    if (effect !== "store") {
      const unwritten = written.indexOf(0, start);
      if (unwritten >= 0 && unwritten < start + bytes) this.#found();
    }
    if (effect !== "load") written.fill(1, start, start + bytes);
  }
}
