import { mbarrierBits, type UnitOp } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type {
  AccessEvent,
  CellsEvent,
  InstructionEvent,
  LaneEvent,
  Observer,
  RangeEvent,
  TensorCells,
} from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";

/**
 * What an operation on tensor memory is: `unit`, a product, a copy or a shift, which an mbarrier tells to be complete;
 * a `load` or a `store` of a warp, which the warp waits for.
 */
type Role = "unit" | "load" | "store";

const roles: Partial<Readonly<Record<UnitOp["op"], Role>>> = {
  "tensor-load": "load",
  "tensor-store": "store",
  "tensor-multiply": "unit",
  "tensor-copy": "unit",
  "tensor-shift": "unit",
};

/** Bytes of a block's shared memory. */
interface Range {
  readonly owner: Cta;
  readonly start: number;
  readonly end: number;
}

/** An operation that is not known to be complete. */
interface Pending {
  readonly role: Role;
  readonly site: Site;
  readonly warp: Warp;
  readonly lane: number;
  readonly cells: { readonly effect: "load" | "store"; readonly at: TensorCells; readonly owner: Cta }[];
  /** The bytes of shared memory that it reads. */
  readonly sources: Range[];
  /** The blocks of which it uses memory: its own, and of a pair both. */
  readonly owners: Set<Cta>;
}

/** An arrival at an mbarrier that stands for operations. */
interface Arrival {
  readonly parity: number;
  readonly operations: ReadonlySet<Pending>;
}

/** What is in flight in a block. */
interface InFlight {
  operations: Pending[];
  /** By the byte of an mbarrier in shared memory. */
  readonly arrivals: Map<number, Arrival[]>;
}

const meet = (a: Range, b: Range): boolean => a.owner === b.owner && a.start < b.end && b.start < a.end;

const cellsMeet = (a: TensorCells, b: TensorCells): boolean =>
  a.lane < b.lane + b.lanes &&
  b.lane < a.lane + a.lanes &&
  a.column < b.column + b.columns &&
  b.column < a.column + a.columns;

/**
 * Reports accesses to what an asynchronous operation on tensor memory may still be using (section 9.7.16.6): to cells
 * that a product or a copy has not certainly written, or that a store has not; and writes to a matrix in shared memory
 * that a product has not certainly read. The machine performs these operations where they are issued. One observer
 * watches one launch.
 */
export class TensorOperations implements Observer {
  readonly #blocks = new WeakMap<Cta, InFlight>();
  readonly #reported = new WeakMap<Site, Set<Site>>();
  #current: Pending | null = null;
  /** Operations in flight in all blocks. */
  #count = 0;

  instruction({ warp, mask, site }: InstructionEvent): void {
    const { op } = site.instruction;
    this.#current = null;
    if (op.kind !== "unit") return;
    if (op.unit.op === "tensor-wait") {
      const role = op.unit.of === "loads" ? "load" : "store";
      this.#complete(warp.cta, (one) => one.role === role && one.warp === warp && ((1 << one.lane) & mask) !== 0);
    }
  }

  cells(e: CellsEvent): void {
    const { op } = e.site.instruction;
    if (op.kind !== "unit") return;
    const role = roles[op.unit.op] ?? null;
    for (const one of this.#of(e.owner).operations) {
      if (one === this.#current || !disturbs(role, e, one)) continue;
      this.#name(e, one, tensorHelp(one));
    }
    if (role === null) return;
    const current = this.#begun(e, role, e.owner);
    current.cells.push({ effect: e.effect, at: e.cells, owner: e.owner });
  }

  range(e: RangeEvent): void {
    const { op } = e.site.instruction;
    if (op.kind !== "unit") return;
    const range = sharedRange(e, e.lane, e.address, accessBytes(e.access));
    if (range === null) return;
    const role = roles[op.unit.op];
    if (role === undefined) {
      if (e.effect !== "load") this.#written(e, range);
      return;
    }
    this.#begun(e, role, range.owner).sources.push(range);
  }

  access(e: AccessEvent): void {
    if (this.#count === 0) return;
    const { op } = e.site.instruction;
    if (op.kind === "atomic" && op.problem !== undefined) {
      this.#mbarrier(e, op.tracks?.what === "tensor");
      return;
    }
    if (e.effect === "load") return;
    const bytes = accessBytes(e.access);
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const range = sharedRange(e, lane, addressOf(e, lane), bytes);
      if (range !== null) this.#written({ ...e, mask: 1 << lane }, range);
    }
  }

  blockEnd(cta: Cta): void {
    this.#complete(cta, () => true);
    this.#blocks.delete(cta);
  }

  #of(cta: Cta): InFlight {
    let found = this.#blocks.get(cta);
    if (found === undefined) this.#blocks.set(cta, (found = { operations: [], arrivals: new Map() }));
    return found;
  }

  /**
   * The operation of the instruction that is being executed, which uses a block; of several lanes, the present one's.
   */
  #begun({ warp, site, mask }: LaneEvent, role: Role, owner: Cta): Pending {
    const lane = lowestLane(mask);
    let current = this.#current;
    if (current === null || current.warp !== warp || current.site !== site || current.lane !== lane) {
      current = { role, site, warp, lane, cells: [], sources: [], owners: new Set() };
      this.#count++;
      this.#current = current;
    }
    for (const cta of [warp.cta, owner]) {
      if (current.owners.has(cta)) continue;
      current.owners.add(cta);
      this.#of(cta).operations.push(current);
    }
    return current;
  }

  #complete(cta: Cta, which: (one: Pending) => boolean): void {
    const inFlight = this.#blocks.get(cta);
    if (inFlight === undefined) return;
    for (const one of inFlight.operations.filter(which)) {
      this.#count--;
      for (const owner of one.owners) {
        const of = this.#of(owner);
        of.operations = of.operations.filter((other) => other !== one);
      }
    }
  }

  /** An operation on an mbarrier: what arrivals in an earlier phase stand for is complete. */
  #mbarrier(e: AccessEvent, commits: boolean): void {
    const { warp } = e;
    const { operations } = this.#of(warp.cta);
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const address = addressOf(e, lane);
      const place = locate(e.activation, lane, address);
      if (place?.kind !== "shared") continue;
      const { arrivals } = this.#of(place.owner ?? warp.cta);
      const at = place.at + address.low - place.start;
      const parity = (place.views.u8[at + (mbarrierBits.parity >> 3)]! >> (mbarrierBits.parity & 7)) & 1;
      const known = arrivals.get(at) ?? [];
      const over = known.filter((arrival) => arrival.parity !== parity);
      for (const { operations: complete } of over) {
        const blocks = new Set([...complete].map((one) => one.warp.cta));
        for (const cta of blocks) this.#complete(cta, (one) => complete.has(one));
      }
      const left = known.filter((arrival) => arrival.parity === parity);
      if (commits) {
        const own = operations.filter((one) => one.role === "unit" && one.warp === warp && one.lane === lane);
        left.push({ parity, operations: new Set(own) });
      }
      arrivals.set(at, left);
    }
  }

  /** Shared memory is about to be written. */
  #written(e: LaneEvent, range: Range): void {
    for (const one of this.#of(range.owner).operations) {
      if (!one.sources.some((source) => meet(source, range))) continue;
      this.#name(e, one, tensorHelp(one));
    }
  }

  /** Reports once for each pair of instructions. */
  #name({ warp, activation, site, mask: lanes }: LaneEvent, one: Pending, help: string): void {
    let known = this.#reported.get(site);
    if (known === undefined) this.#reported.set(site, (known = new Set()));
    if (known.has(one.site)) return;
    known.add(one.site);
    const { ir } = one.site.code;
    const { line } = ir.source.position(one.site.instruction.span.start);
    const what = site.instruction.op.kind === "unit" ? "uses tensor memory" : "writes shared memory";
    const message = `${what} that an asynchronous operation may still be using (issued at line ${line})`;
    warp.cta.grid.reports.add({ code: "async-in-flight", severity: "error", message, help, lanes, site, activation });
  }
}

const tensorHelp = ({ role }: Pending): string =>
  role === "unit"
    ? "wait for it first: tcgen05.commit in the thread that issued it, then mbarrier.try_wait"
    : `the warp that issued it must wait for it: tcgen05.wait::${role === "load" ? "ld" : "st"}`;

/**
 * Whether an access to cells is not ordered after an operation in flight that it depends on, or that depends on it.
 * Products, copies and shifts are ordered among each other (section 9.7.16.6.2), and so are a load and what uses its
 * registers. `role`: null where columns are freed.
 */
function disturbs(role: Role | null, { effect, cells, owner }: CellsEvent, one: Pending): boolean {
  if (one.role === "unit" ? role === "unit" : one.role === "load" ? role !== "unit" : role === null) return false;
  return one.cells.some(
    (own) => own.owner === owner && (own.effect === "store" || effect === "store") && cellsMeet(own.at, cells),
  );
}

/** The bytes of shared memory at an address; null: it is elsewhere. */
function sharedRange(e: LaneEvent, lane: number, address: AddressParts, bytes: number): Range | null {
  const place = locate(e.activation, lane, address);
  if (place?.kind !== "shared") return null;
  const start = place.at + address.low - place.start;
  return { owner: place.owner ?? e.warp.cta, start, end: start + bytes };
}

const addressOf = ({ addressWords: words }: AccessEvent, lane: number): AddressParts => ({
  high: words[2 * lane + 1]! >>> 0,
  low: words[2 * lane]! >>> 0,
});
