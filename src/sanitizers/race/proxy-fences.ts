import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, InstructionEvent, Observer, RangeEvent } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { type AddressParts, hex } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Cta } from "../../machine/state/launch-state.ts";

const granule = 4;

/**
 * Reports units of the machine that read shared memory which ordinary stores have written, where no thread of the block
 * has executed `fence.proxy.async` in between (sections 8.6, 9.7.13.4). That any thread's fence counts is less than the
 * model demands: it wants the fence between the two in causality order. One observer watches one launch.
 */
export class ProxyFences implements Observer {
  /** By granule of a block's shared memory, the ordinary store since the block's last fence. */
  readonly #blocks = new WeakMap<Cta, Map<number, Site>>();
  readonly #reported = new WeakMap<Site, Set<Site>>();

  instruction({ warp, site }: InstructionEvent): void {
    const { op } = site.instruction;
    if (op.kind === "nothing" && op.proxy === "async") this.#blocks.delete(warp.cta);
  }

  access(e: AccessEvent): void {
    // Copies by `cp.async` are ordinary accesses, too.
    if (e.effect !== "store") return;
    const { access, warp, site } = e;
    if (access.space !== "shared" && access.space !== "generic") return;
    const bytes = accessBytes(access);
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const start = sharedByte(e, lane, {
        high: e.addressWords[2 * lane + 1]! >>> 0,
        low: e.addressWords[2 * lane]! >>> 0,
      });
      if (start !== null) this.#stored(warp.cta, start, bytes, site);
    }
  }

  range(e: RangeEvent): void {
    const { warp, lane, address, effect, activation, site } = e;
    const bytes = accessBytes(e.access);
    const start = sharedByte(e, lane, address);
    // What is written anew is no longer what a store has left. An mbarrier is accessed as ordinary memory is.
    if (start === null || e.access.order === "release") return;
    if (site.instruction.op.kind === "unit" && site.instruction.op.unit.op === "clear-range") {
      this.#stored(warp.cta, start, bytes, site);
      return;
    }
    const stores = this.#blocks.get(warp.cta);
    if (stores === undefined || stores.size === 0) return;
    let found: Site | null = null;
    for (let at = Math.floor(start / granule); at * granule < start + bytes; at++) {
      if (effect === "load") found ??= stores.get(at) ?? null;
      else stores.delete(at);
    }
    if (found === null || !this.#isNew(site, found)) return;
    const { line } = found.code.ir.source.position(found.instruction.span.start);
    warp.cta.grid.reports.add({
      code: "proxy-fence-missing",
      severity: "warning",
      message: `reads ${bytes} bytes at ${hex(address)} asynchronously, which line ${line} has stored; no fence.proxy.async stands between`,
      help: "the thread that stores executes fence.proxy.async after it, before the barrier at which it meets this one",
      lanes: 1 << lane,
      site,
      activation,
    });
  }

  blockEnd(cta: Cta): void {
    this.#blocks.delete(cta);
  }

  /** An ordinary store of bytes. */
  #stored(cta: Cta, start: number, bytes: number, site: Site): void {
    const stores = this.#of(cta);
    for (let at = Math.floor(start / granule); at * granule < start + bytes; at++) stores.set(at, site);
  }

  #of(cta: Cta): Map<number, Site> {
    let found = this.#blocks.get(cta);
    if (found === undefined) this.#blocks.set(cta, (found = new Map()));
    return found;
  }

  /** Whether this pair of instructions has not been reported. */
  #isNew(site: Site, store: Site): boolean {
    let known = this.#reported.get(site);
    if (known === undefined) this.#reported.set(site, (known = new Set()));
    if (known.has(store)) return false;
    known.add(store);
    return true;
  }
}

/** The byte of the block's shared memory at an address; null elsewhere. */
function sharedByte(
  { activation }: Pick<AccessEvent, "activation">,
  lane: number,
  address: AddressParts,
): number | null {
  const place = locate(activation, lane, address);
  return place?.kind === "shared" && place.owner === null ? place.at + address.low - place.start : null;
}
