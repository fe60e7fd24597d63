import { layoutOf, type Op, type UnitOpOf, type WarpgroupProduct, chunkBytes, windows } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import { type InstructionEvent, type Observer, Observers } from "../../machine/events.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Activation, Cta } from "../../machine/state/launch-state.ts";
import { accessOfRange, type RangeRequest, type UnitCall } from "../../program/units/unit-call.ts";
import { chunksOfProduct } from "../../program/warpgroup-product.ts";
import { isObservedUnit } from "../compile/watch/observed.ts";
import type { ShadowPlan } from "../compile/watch/shadow-plan.ts";
import type { OwnAccesses } from "./launch-shadow.ts";

/** What is known of a launch that is shown. */
export interface ShownChoices {
  /** Makes the sanitizers that watch; `found`: called where one of them cannot say what it has found. */
  readonly observers: (found: () => void) => readonly Observer[];
  /** What compiled code shows, by number, and the kernel as it was before that was woven in. */
  readonly observed: NonNullable<ShadowPlan["observed"]>;
  /** What the kernel's own accesses may reach; null if that is not known. */
  readonly own: OwnAccesses | null;
  /** Whether units of the machine may write global memory. */
  readonly unitsStore: boolean;
  /** Whether memory must have been written before it is read. */
  readonly checksWritten: boolean;
  /** Bytes of the shared memory of a block that the kernel may use. */
  readonly sharedBytes: number;
}

/** Finds the byte of memory at which a place begins. */
type ByteOf = (place: Place) => number;

/** The barrier of a block, as chunks come to it: the number of its round, and in which one each of them waits. */
interface ShownBarrier {
  round: number;
  readonly waiting: Map<number, number>;
}

/** A block: its number in the grid, and its barriers. */
interface ShownBlock {
  readonly ticket: number;
  readonly barriers: Map<number, ShownBarrier>;
}

const mbarrierBytes = 8;

/**
 * A launch of compiled code of which the sanitizers themselves see what happens to shared memory: what units of the
 * machine do, mbarriers, what orders accesses, and these. Global memory is watched by woven code, so that units must
 * not read there what the kernel may write, nor write what it may access.
 */
export class ShownLaunch {
  readonly sharedBytes: number;
  readonly #choices: ShownChoices;
  readonly #observers: Observers;
  readonly #blocks = new Map<Cta, ShownBlock>();
  readonly #sites: (Site | undefined)[] = [];
  readonly #addresses = new BigInt64Array(32);
  readonly #words = new Int32Array(this.#addresses.buffer);
  #isFound = false;

  constructor(choices: ShownChoices) {
    this.#choices = choices;
    this.sharedBytes = choices.sharedBytes;
    this.#observers = new Observers(choices.observers(() => (this.#isFound = true)));
  }

  /** Whether there may be anything to report besides what has been reported. */
  get isFound(): boolean {
    return this.#isFound;
  }

  /** All blocks have ended. */
  end(): void {
    for (const cta of this.#blocks.keys()) this.#observers.emit("blockEnd", cta);
    for (const { grid } of [...this.#blocks.keys()].slice(0, 1)) this.#observers.emit("launchEnd", grid);
  }

  /** Lanes are about to execute an instruction, or have passed a barrier. `first`: the first lane of their chunk. */
  show({ number, after }: UnitOpOf<"observe">, call: UnitCall, first: number, byteOf: ByteOf): void {
    const block = this.#blockOf(call.x.warp.cta);
    const { ir, list } = this.#choices.observed;
    const { instruction, index, accesses } = list[number]!;
    const site = (this.#sites[number] ??= { code: { ...call.x.code, ir }, index, instruction });
    const e = eventAt(call, site);
    const { op } = instruction;
    if (op.kind === "barrier") {
      this.#barrier(e, op, block, { first, after });
      return;
    }
    if (op.kind === "warp") {
      this.#observers.emit("warp", { ...e, named: e.mask, parts: [e], sources: null });
      return;
    }
    this.#observers.emit("instruction", e);
    if (op.kind === "unit" && op.unit.op === "multiply-warpgroup") this.#product(e, op.unit.product, call);
    accesses.forEach(({ ordinal, effect, access }, n) => {
      for (let m = e.mask; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        const address = call.address(n, lane);
        this.#words[2 * lane] = address.low;
        this.#words[2 * lane + 1] = address.high;
        if (effect === "atomic" && access.bits === 64) this.#refresh(call, lane, address, byteOf);
      }
      const addresses = { addresses: this.#addresses, addressWords: this.#words };
      this.#observers.emit("access", { ...e, ordinal, effect, access, ...addresses });
    });
  }

  /** A unit of the machine is about to act. */
  unit(call: UnitCall): void {
    const { cta } = call.x.warp;
    this.#blockOf(cta);
    if (!isShown(call.site.instruction.op)) return;
    // Where it writes global memory each row of a box counts.
    if (this.#choices.unitsStore) cta.grid.observers = this.#observers;
    this.#observers.emit("instruction", eventAt(call, call.site));
  }

  /** It is about to access a range. */
  range(call: UnitCall, request: RangeRequest, byteOf: ByteOf): void {
    if (!isShown(call.site.instruction.op)) return;
    const { lane, effect, address, contents = null } = request;
    const place = locate(call.x, lane, address);
    if (place === null || (place.kind !== "shared" && place.kind !== "global")) return;
    if (place.kind === "global") {
      this.#checkOwn(call, place, effect);
      if (!this.#choices.unitsStore) return;
    }
    if (request.kind?.order === "release") this.#refresh(call, lane, address, byteOf);
    const e = { ...eventAt(call, call.site), mask: 1 << lane };
    this.#observers.emit("range", { ...e, lane, effect, access: accessOfRange(request), address, contents });
  }

  #checkOwn({ x }: UnitCall, { at }: Place, effect: RangeRequest["effect"]): void {
    const { own, checksWritten } = this.#choices;
    const allocation = x.warp.cta.grid.memory.find(at);
    const reached = effect === "load" ? own?.written : own?.accessed;
    if (allocation === null || reached === undefined || reached.has(allocation)) this.#isFound = true;
    else if (checksWritten && effect === "load" && allocation.unwritten !== undefined) this.#isFound = true;
  }

  /** A product reads its matrices: what lies between the first and the last chunk, unless that is much more. */
  #product(e: InstructionEvent, product: WarpgroupProduct, call: UnitCall): void {
    const lane = lowestLane(e.mask);
    const [b, a] = [0, 1].map((n) => {
      const { low, high } = call.address(n, lane);
      return layoutOf(low | 0, high | 0);
    });
    const read = (from: number, bytes: number): void => {
      const address = { low: windows.shared.start + from, high: 0 };
      const request = { lane, effect: "load", space: "shared", bytes, align: chunkBytes, address } as const;
      const access = accessOfRange(request);
      this.#observers.emit("range", { ...e, mask: 1 << lane, lane, effect: "load", access, address, contents: null });
    };
    const left = product.left.kind === "registers" ? null : a!;
    chunksOfProduct(product, { warp: e.warp.index, a: left, b: b! }, (addresses, count) => {
      let [first, last] = [addresses[0]!, addresses[0]!];
      for (let i = 1; i < count; i++) {
        first = Math.min(first, addresses[i]!);
        last = Math.max(last, addresses[i]!);
      }
      const span = last + chunkBytes - first;
      if (span <= 8 * count * chunkBytes) read(first, span);
      else for (let i = 0; i < count; i++) read(addresses[i]!, chunkBytes);
    });
  }

  #barrier(
    e: InstructionEvent,
    { id, mode, aligned }: Extract<Op, { kind: "barrier" }>,
    { barriers }: ShownBlock,
    { first, after }: { readonly first: number; readonly after: boolean },
  ): void {
    const barrier = id.kind === "const" ? Number(id.value) : 0;
    let shown = barriers.get(barrier);
    if (shown === undefined) barriers.set(barrier, (shown = { round: 0, waiting: new Map() }));
    const chunk = 32 * e.warp.index + first;
    if (!after) {
      shown.waiting.set(chunk, shown.round);
      this.#observers.emit("barrier", { ...e, part: 0, barrier, mode, aligned, converged: true });
      return;
    }
    // The first chunk that passes tells that all have come.
    if (shown.waiting.get(chunk) !== shown.round) return;
    shown.round++;
    this.#observers.emit("barrierRelease", { cta: e.warp.cta, barrier });
  }

  /** The block that runs: the same object of the machine may be another block than before. */
  #blockOf(cta: Cta): ShownBlock {
    const known = this.#blocks.get(cta);
    if (known?.ticket === cta.ticket) return known;
    if (this.#blocks.size === 0) this.#observers.emit("launchBegin", cta.grid);
    if (known !== undefined) this.#observers.emit("blockEnd", cta);
    const block = { ticket: cta.ticket, barriers: new Map<number, ShownBarrier>() };
    this.#blocks.set(cta, block);
    this.#observers.emit("blockBegin", cta);
    return block;
  }

  /** Lets the block's object have what an mbarrier holds, in which sanitizers look. */
  #refresh({ x }: UnitCall, lane: number, address: AddressParts, byteOf: ByteOf): void {
    const place = locate(x, lane, address);
    if (place?.kind !== "shared" || place.owner !== null) return;
    const offset = address.low - place.start;
    const from = byteOf(place) + offset;
    const { u8 } = x.warp.cta.grid.memory.views;
    place.views.u8.set(u8.subarray(from, from + mbarrierBytes), place.at + offset);
  }
}

/** Whether a unit's accesses are shown as they happen: those of products are shown before. */
const isShown = (op: Op): boolean => isObservedUnit(op) && op.kind === "unit" && op.unit.op !== "multiply-warpgroup";

const eventAt = ({ x, lanes }: UnitCall, site: Site): InstructionEvent => ({
  warp: x.warp,
  // What sanitizers ask of it, activations of compiled code have, too.
  activation: x as Activation,
  site,
  mask: lanes,
  group: lanes,
});
