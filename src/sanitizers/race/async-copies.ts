import { mbarrierBits } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, InstructionEvent, Observer } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { type AddressParts, hex } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";

/** A copy by one lane that is not known to be complete. */
interface Pending {
  readonly warp: Warp;
  readonly lane: number;
  readonly site: Site;
  /** The bytes of memory that it reads and writes; `source` is empty if it reads nothing. */
  readonly source: Range;
  readonly target: Range;
  isComplete: boolean;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const empty: Range = { start: 0, end: 0 };

const granule = 4;

/** What a lane has in flight: the copies that are in no group yet, and the groups, the oldest first. */
interface LaneCopies {
  open: Pending[];
  groups: Pending[][];
}

/** An arrival at an mbarrier that stands for copies. */
interface Arrival {
  readonly parity: number;
  readonly copies: readonly Pending[];
}

/** The pending copies by the granules of memory that they touch. */
class Places {
  readonly #at = new Map<number, Set<Pending>>();

  add(pending: Pending, { start, end }: Range): void {
    for (let at = Math.floor(start / granule); at * granule < end; at++) {
      let found = this.#at.get(at);
      if (found === undefined) this.#at.set(at, (found = new Set()));
      found.add(pending);
    }
  }

  remove(pending: Pending, { start, end }: Range): void {
    for (let at = Math.floor(start / granule); at * granule < end; at++) {
      const found = this.#at.get(at);
      found?.delete(pending);
      if (found?.size === 0) this.#at.delete(at);
    }
  }

  find({ start, end }: Range, which: (pending: Pending) => Range): Pending | null {
    if (this.#at.size === 0) return null;
    for (let at = Math.floor(start / granule); at * granule < end; at++) {
      for (const pending of this.#at.get(at) ?? []) {
        const range = which(pending);
        if (range.start < end && start < range.end) return pending;
      }
    }
    return null;
  }
}

const sourceOf = ({ source }: Pending): Range => source;
const targetOf = ({ target }: Pending): Range => target;

/**
 * Reports accesses to memory that an asynchronous copy is still using: its destination is read or written, or its
 * source written, before the thread that issued it has waited for it (`cp.async.wait_group`, `cp.async.wait_all`). The
 * machine performs copies where they are issued; on a GPU the access may come before it. One observer watches one
 * launch.
 */
export class AsyncCopies implements Observer {
  readonly #lanes = new WeakMap<Warp, LaneCopies[]>();
  readonly #sources = new Places();
  /** Destinations are in the shared memory of a block. */
  readonly #targets = new WeakMap<Cta, Places>();
  /** By the place of an mbarrier, the copies for which there are arrivals, with the parity of the phase. */
  readonly #tracked = new WeakMap<Cta, Map<number, Arrival[]>>();
  /** By lane, what the copy that is being issued reads. */
  readonly #reading: Range[] = [];
  #count = 0;
  readonly #reported = new WeakMap<Site, Set<Site>>();

  instruction({ warp, mask, site }: InstructionEvent): void {
    const { op } = site.instruction;
    if (op.kind === "copy") this.#reading.fill(empty);
    if (op.kind !== "commit-copies" && op.kind !== "await-copies") return;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = this.#copiesOf(warp, lowestLane(m));
      // `wait_all` has no number: it takes the copies that are in no group, too.
      if (op.kind === "commit-copies" || op.all) {
        lane.groups.push(lane.open);
        lane.open = [];
      }
      if (op.kind === "commit-copies") continue;
      while (lane.groups.length > op.pending) for (const pending of lane.groups.shift()!) this.#forget(pending);
    }
  }

  access(e: AccessEvent): void {
    const { op } = e.site.instruction;
    if (op.kind !== "copy" && this.#count === 0) return;
    if (op.kind === "atomic" && op.problem !== undefined) this.#mbarrier(e, op.tracksCopies === true);
    const bytes = accessBytes(e.access);
    const found = new Map<Pending, number>();
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const range = rangeOf(e, lane, bytes);
      if (range === null) continue;
      const pending = this.#using(e, range);
      if (pending !== null) found.set(pending, (found.get(pending) ?? 0) | (1 << lane));
      if (op.kind !== "copy") continue;
      if (e.effect === "load") this.#reading[lane] = range;
      else this.#issue(e, lane, range);
    }
    if (found.size > 0) this.#name(e, found);
  }

  /** An operation on an mbarrier: copies for which an arrival in an earlier phase stands are complete. */
  #mbarrier(e: AccessEvent, tracksCopies: boolean): void {
    const { warp } = e;
    let byMbarrier = this.#tracked.get(warp.cta);
    if (byMbarrier === undefined) this.#tracked.set(warp.cta, (byMbarrier = new Map()));
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const address = addressOf(e, lane);
      const place = locate(e.activation, lane, address);
      if (place?.kind !== "shared") continue;
      const at = place.at + address.low - place.start;
      const parity = (place.views.u8[at + (mbarrierBits.parity >> 3)]! >> (mbarrierBits.parity & 7)) & 1;
      let tracked = byMbarrier.get(at) ?? [];
      for (const arrival of tracked) if (arrival.parity !== parity) for (const p of arrival.copies) this.#forget(p);
      tracked = tracked.filter((arrival) => arrival.parity === parity);
      if (tracksCopies) {
        const { open, groups } = this.#copiesOf(warp, lane);
        tracked.push({ parity, copies: [...groups.flat(), ...open] });
      }
      byMbarrier.set(at, tracked);
    }
  }

  /** A copy that still uses the memory, in a way that the access disturbs. */
  #using({ warp, effect }: AccessEvent, range: Located): Pending | null {
    if (range.kind === "shared") return this.#targets.get(range.owner ?? warp.cta)?.find(range, targetOf) ?? null;
    return effect === "load" ? null : this.#sources.find(range, sourceOf);
  }

  blockEnd(cta: Cta): void {
    for (const warp of cta.warps) {
      for (const lane of this.#lanes.get(warp) ?? []) {
        for (const pending of [...lane.groups.flat(), ...lane.open]) this.#forget(pending);
      }
      this.#lanes.delete(warp);
    }
  }

  #copiesOf(warp: Warp, lane: number): LaneCopies {
    let lanes = this.#lanes.get(warp);
    if (lanes === undefined) this.#lanes.set(warp, (lanes = []));
    return (lanes[lane] ??= { open: [], groups: [] });
  }

  #issue({ warp, site }: AccessEvent, lane: number, target: Range): void {
    const pending: Pending = { warp, lane, site, source: this.#reading[lane] ?? empty, target, isComplete: false };
    this.#count++;
    this.#sources.add(pending, pending.source);
    let targets = this.#targets.get(warp.cta);
    if (targets === undefined) this.#targets.set(warp.cta, (targets = new Places()));
    targets.add(pending, target);
    this.#copiesOf(warp, lane).open.push(pending);
  }

  #forget(pending: Pending): void {
    if (pending.isComplete) return;
    pending.isComplete = true;
    this.#count--;
    this.#sources.remove(pending, pending.source);
    this.#targets.get(pending.warp.cta)?.remove(pending, pending.target);
  }

  /** Reports once for each pair of instructions, in all lanes that do the same. */
  #name(e: AccessEvent, found: ReadonlyMap<Pending, number>): void {
    const bySite = new Map<Site, { readonly first: Pending; lanes: number }>();
    for (const [pending, lanes] of found) {
      const known = bySite.get(pending.site);
      if (known === undefined) bySite.set(pending.site, { first: pending, lanes });
      else known.lanes |= lanes;
    }
    for (const [site, { first, lanes }] of bySite) {
      let known = this.#reported.get(e.site);
      if (known === undefined) this.#reported.set(e.site, (known = new Set()));
      if (known.has(site)) continue;
      known.add(site);
      describe(e, first, lanes);
    }
  }
}

/** Bytes of the device's memory, or of a block's shared memory. */
interface Located extends Range {
  readonly kind: "global" | "shared";
  /** The block whose shared memory it is, if not that of the block that accesses it. */
  readonly owner: Cta | null;
}

/** The bytes that a lane accesses; null if copies do not use them, or they are nowhere, which ends the launch. */
function rangeOf(e: AccessEvent, lane: number, bytes: number): Located | null {
  const address = addressOf(e, lane);
  const place = locate(e.activation, lane, address);
  if (place === null || (place.kind !== "global" && place.kind !== "shared")) return null;
  const start = place.at + address.low - place.start;
  return { kind: place.kind, owner: place.owner, start, end: start + bytes };
}

const addressOf = ({ addressWords: words }: AccessEvent, lane: number): AddressParts => ({
  high: words[2 * lane + 1]! >>> 0,
  low: words[2 * lane]! >>> 0,
});

const verbs = { load: "reads", store: "writes", atomic: "updates" } as const;

function describe(e: AccessEvent, pending: Pending, lanes: number): void {
  const { warp, activation, site, effect } = e;
  const lane = lowestLane(lanes);
  const address = addressOf(e, lane);
  const { ir } = pending.site.code;
  const { line } = ir.source.position(pending.site.instruction.span.start);
  const own = pending.warp === warp && pending.lane === lane;
  const what = `${verbs[effect]} ${accessBytes(e.access)} bytes at ${hex(address)}`;
  const message = `${what}, which an asynchronous copy of ${own ? "the same" : "another"} thread may still be using (issued at line ${line})`;
  const help = own
    ? "wait for the copy first: cp.async.wait_group or cp.async.wait_all"
    : "the thread that issued the copy must wait for it (cp.async.wait_group or cp.async.wait_all), and then meet this one at a barrier";
  warp.cta.grid.reports.add({
    code: "async-in-flight",
    severity: "error",
    message,
    help,
    lanes,
    site,
    activation,
  });
}
