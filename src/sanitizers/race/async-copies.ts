import { mbarrierBits, type OpOf } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, InstructionEvent, LaneEvent, Observer, RangeEvent } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { type AddressParts, hex } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";
import { CopiesInFlight, type Located, type Pending } from "./copies-in-flight.ts";

/** The copies of a lane that are in no group yet, and the groups, the oldest first. */
interface Groups {
  open: Pending[];
  groups: Pending[][];
}

/** What a lane has in flight. Units of the machine have groups of their own. */
interface LaneCopies {
  readonly own: Groups;
  readonly bulk: Groups;
}

/** An mbarrier as operations on it have found it: the number of its phase, and that phase's parity. */
interface Tracked {
  phase: number;
  parity: number;
  /** The copies that stand for arrivals or transactions in a phase, until a thread has seen it complete. */
  arrivals: { readonly phase: number; readonly copies: readonly Pending[] }[];
}

type Effect = AccessEvent["effect"];

/**
 * Reports accesses to memory that an asynchronous copy is still using: its destination is read or written, or its
 * source written, before the thread that issued it has waited for it (`cp.async.wait_group`, `cp.async.wait_all`,
 * `cp.async.bulk.wait_group`), or before anyone has seen the mbarrier that counts it in its next phase. The machine
 * performs copies where they are issued; on a GPU the access may come before it. One observer watches one launch.
 */
export class AsyncCopies implements Observer {
  readonly #lanes = new WeakMap<Warp, LaneCopies[]>();
  readonly #inFlight = new CopiesInFlight();
  /** Mbarriers by their places. */
  readonly #tracked = new WeakMap<Cta, Map<number, Tracked>>();
  /** By lane, the copy that is being issued. */
  #issued: (Pending | undefined)[] = [];
  readonly #reported = new WeakMap<Site, Set<Site>>();
  /** The instructions whose copies have been reported to be disturbed. */
  readonly #named = new WeakSet<Site>();

  instruction({ warp, mask, site }: InstructionEvent): void {
    const { op } = site.instruction;
    if (op.kind === "copy" || op.kind === "unit") this.#issued = [];
    if (op.kind !== "commit-copies" && op.kind !== "await-copies") return;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = this.#copiesOf(warp, lowestLane(m))[op.bulk ? "bulk" : "own"];
      // `wait_all` has no number: it takes the copies that are in no group, too.
      if (op.kind === "commit-copies" || op.all) {
        lane.groups.push(lane.open);
        lane.open = [];
      }
      if (op.kind === "commit-copies") continue;
      const complete = lane.groups.slice(0, Math.max(0, lane.groups.length - op.pending));
      for (const pending of complete.flat()) {
        if (op.read) this.#inFlight.endReading(pending);
        else this.#inFlight.end(pending);
      }
      if (!op.read) lane.groups.splice(0, complete.length);
    }
  }

  access(e: AccessEvent): void {
    const { op } = e.site.instruction;
    if (op.kind !== "copy" && this.#inFlight.areNone) return;
    if (op.kind === "atomic" && op.problem !== undefined) this.#mbarrier(e, op);
    const bytes = accessBytes(e.access);
    const found = new Map<Pending, number>();
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const range = rangeOf(e, lane, addressOf(e, lane), bytes);
      if (range === null) continue;
      const own = op.kind === "copy" ? this.#issuedBy(e, lane) : null;
      const pending = this.#inFlight.disturbed(e.warp.cta, e.effect, range, own);
      if (pending !== null) found.set(pending, (found.get(pending) ?? 0) | (1 << lane));
      if (own === null) continue;
      if (own.uses.length === 0) this.#copiesOf(e.warp, lane).own.open.push(own);
      this.#inFlight.use(own, e.effect, range);
    }
    if (found.size > 0) this.#name({ ...e, address: (lane) => addressOf(e, lane) }, found);
  }

  range(e: RangeEvent): void {
    const { op } = e.site.instruction;
    if (op.kind !== "unit") return;
    const { warp, lane, effect, address } = e;
    const range = rangeOf(e, lane, address, accessBytes(e.access));
    if (range === null) return;
    const isCopy = op.unit.op === "bulk-copy" || op.unit.op === "box-load" || op.unit.op === "box-store";
    const own = isCopy ? this.#issuedBy(e, lane) : null;
    if (own !== null && e.access.order === "release") {
      const { phase, arrivals } = this.#trackedAt(range.owner ?? warp.cta, range.start);
      arrivals.push({ phase, copies: [own] });
      return;
    }
    const pending = this.#inFlight.disturbed(warp.cta, effect, range, own);
    if (pending !== null) this.#name({ ...e, address: () => address }, new Map([[pending, 1 << lane]]));
    if (own === null) return;
    const byGroup = op.unit.op === "box-store" || (op.unit.op === "bulk-copy" && op.unit.completion === "group");
    if (own.uses.length === 0 && byGroup) this.#copiesOf(warp, lane).bulk.open.push(own);
    this.#inFlight.use(own, effect, range);
  }

  blockEnd(cta: Cta): void {
    for (const warp of cta.warps) {
      for (const { own, bulk } of this.#lanes.get(warp) ?? []) {
        for (const pending of [...bulk.groups.flat(), ...bulk.open]) {
          if (!this.#named.has(pending.site)) reportUnread(pending);
        }
        for (const { groups, open } of [own, bulk]) {
          for (const pending of [...groups.flat(), ...open]) this.#inFlight.end(pending);
        }
      }
      this.#lanes.delete(warp);
    }
    for (const { arrivals } of this.#tracked.get(cta)?.values() ?? []) {
      for (const { copies } of arrivals) for (const pending of copies) this.#inFlight.end(pending);
    }
    this.#tracked.delete(cta);
  }

  /** The copy that a lane issues with this instruction. */
  #issuedBy(e: LaneEvent, lane: number): Pending {
    return (this.#issued[lane] ??= this.#inFlight.begin(e, lane));
  }

  /** An operation on an mbarrier. Copies of phases that a waiting thread finds complete are complete. */
  #mbarrier(e: AccessEvent, { results, tracks }: OpOf<"atomic">): void {
    const { warp } = e;
    const waits = results?.[0]?.ty === "pred";
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const range = rangeOf(e, lane, addressOf(e, lane), 8);
      if (range?.kind !== "shared") continue;
      const found = this.#trackedAt(range.owner ?? warp.cta, range.start);
      const { phase, arrivals } = found;
      if (waits && arrivals.length > 0) {
        for (const { copies } of arrivals.filter((arrival) => arrival.phase < phase)) copies.forEach(this.#complete);
        found.arrivals = arrivals.filter((arrival) => arrival.phase === phase);
      }
      if (tracks?.what !== "copies") continue;
      const { open, groups } = this.#copiesOf(warp, lane).own;
      arrivals.push({ phase, copies: [...groups.flat(), ...open] });
    }
  }

  readonly #complete = (pending: Pending): void => this.#inFlight.end(pending);

  /** What is known of an mbarrier, in the phase in which it is. */
  #trackedAt(cta: Cta, at: number): Tracked {
    let byMbarrier = this.#tracked.get(cta);
    if (byMbarrier === undefined) this.#tracked.set(cta, (byMbarrier = new Map()));
    const parity = (cta.shared.u8[at + (mbarrierBits.parity >> 3)]! >> (mbarrierBits.parity & 7)) & 1;
    let found = byMbarrier.get(at);
    if (found === undefined) byMbarrier.set(at, (found = { phase: 0, parity, arrivals: [] }));
    if (found.parity !== parity) found.phase++;
    found.parity = parity;
    return found;
  }

  #copiesOf(warp: Warp, lane: number): LaneCopies {
    let lanes = this.#lanes.get(warp);
    if (lanes === undefined) this.#lanes.set(warp, (lanes = []));
    return (lanes[lane] ??= { own: { open: [], groups: [] }, bulk: { open: [], groups: [] } });
  }

  /** Reports once for each pair of instructions, in all lanes that do the same. */
  #name(e: Disturbing, found: ReadonlyMap<Pending, number>): void {
    const bySite = new Map<Site, { readonly first: Pending; lanes: number }>();
    for (const [pending, lanes] of found) {
      const known = bySite.get(pending.site);
      if (known === undefined) bySite.set(pending.site, { first: pending, lanes });
      else known.lanes |= lanes;
    }
    for (const [site, { first, lanes }] of bySite) {
      this.#named.add(site);
      let known = this.#reported.get(e.site);
      if (known === undefined) this.#reported.set(e.site, (known = new Set()));
      if (known.has(site)) continue;
      known.add(site);
      describe(e, first, lanes);
    }
  }
}

/** An access that may disturb a copy, with the address of each lane. */
interface Disturbing extends LaneEvent {
  readonly effect: Effect;
  readonly access: AccessEvent["access"];
  readonly address: (lane: number) => AddressParts;
}

/** The bytes that a lane accesses; null if copies do not use them, or they are nowhere, which ends the launch. */
function rangeOf({ activation }: LaneEvent, lane: number, address: AddressParts, bytes: number): Located | null {
  const place = locate(activation, lane, address);
  if (place === null || (place.kind !== "global" && place.kind !== "shared")) return null;
  const start = place.at + address.low - place.start;
  return { kind: place.kind, owner: place.owner, start, end: start + bytes };
}

const addressOf = ({ addressWords: words }: AccessEvent, lane: number): AddressParts => ({
  high: words[2 * lane + 1]! >>> 0,
  low: words[2 * lane]! >>> 0,
});

const verbs = { load: "reads", store: "writes", atomic: "updates" } as const;

/** What a thread has to do before it, or another one, may access what its copy uses. */
function adviceFor({ site }: Pending, own: boolean): string {
  const { op } = site.instruction;
  const byMbarrier =
    op.kind === "unit" &&
    (op.unit.op === "box-load" || (op.unit.op === "bulk-copy" && op.unit.completion === "mbarrier"));
  if (byMbarrier)
    return "wait first until the phase of the mbarrier that counts the copy is complete: mbarrier.try_wait";
  const wait =
    op.kind === "unit"
      ? "cp.async.bulk.commit_group, cp.async.bulk.wait_group"
      : "cp.async.wait_group or cp.async.wait_all";
  return own
    ? `wait for the copy first: ${wait}`
    : `the thread that issued the copy must wait for it (${wait}), and then meet this one at a barrier`;
}

/** Reports a bulk copy that may still be reading the shared memory of its block when the block ends. */
function reportUnread({ warp, lane, site, activation, uses }: Pending): void {
  if (!uses.some(({ kind, effect }) => kind === "shared" && effect === "load")) return;
  warp.cta.grid.reports.add({
    code: "async-in-flight",
    severity: "error",
    message: "the block ends while this copy may still be reading its shared memory: nothing waits for it",
    help: "the thread that issued it waits before it ends: cp.async.bulk.commit_group, cp.async.bulk.wait_group.read 0",
    lanes: 1 << lane,
    site,
    activation,
  });
}

function describe(e: Disturbing, pending: Pending, lanes: number): void {
  const { warp, activation, site, effect } = e;
  const address = e.address(lowestLane(lanes));
  const { ir } = pending.site.code;
  const { line } = ir.source.position(pending.site.instruction.span.start);
  const own = pending.warp === warp && pending.lane === lowestLane(lanes);
  const what = `${verbs[effect]} ${accessBytes(e.access)} bytes at ${hex(address)}`;
  const message = `${what}, which an asynchronous copy of ${own ? "the same" : "another"} thread may still be using (issued at line ${line})`;
  warp.cta.grid.reports.add({
    code: "async-in-flight",
    severity: "error",
    message,
    help: adviceFor(pending, own),
    lanes,
    site,
    activation,
  });
}
