import type { Access, Place as IrPlace, Op } from "../../ir/index.ts";
import { eachLane, lowestLane } from "../../ir/lane-mask.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { LaneAddresses } from "../../machine/state/code.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
import { boundSurface, surfaceBytes } from "../../program/surfaces.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { LastExtent } from "../compile/last-extent.ts";
import { type FastPath, fastPath } from "../compile/memory-loop.ts";
import type { Slot } from "../compile/register-file.ts";
import { makeAtomic } from "./atomic.ts";
import { makeLoad, makeStore, type MemoryInstruction } from "./memory-access.ts";

type Memory = Extract<Op, { kind: "load" | "store" | "atomic" }>;

type SurfacePlace = Extract<IrPlace, { kind: "surface" }>;

export interface SurfaceStep {
  readonly run: Run;
  readonly addresses: (x: Activation, mask: number, into: LaneAddresses) => number;
}

/**
 * An access by an offset into a surface. Elements within the surface are accessed by their addresses; of those beyond
 * its end loads give 0, and stores and atomics do nothing.
 */
export function makeSurfaceStep(d: Decoding, op: Memory, place: SurfacePlace): SurfaceStep {
  const step = new SurfaceAccess(d, op, place);
  return { run: (x, mask) => step.run(x, mask), addresses: (x, mask, into) => step.addresses(x, mask, into) };
}

class SurfaceAccess {
  readonly #d: Decoding;
  readonly #op: Memory;
  readonly #access: Access;
  /** The registers of the offset, of the computed addresses, and of the elements. */
  readonly #offset: Slot;
  readonly #address: Slot;
  readonly #slots: readonly (Slot | null)[];
  readonly #prepare: Run;
  readonly #find: (x: Activation, mask: number) => BoundSurface;
  readonly #last: LastSurface;
  /** Whether a generated loop may access memory. */
  readonly #isSimple: boolean;
  #fast: FastPath | null = null;
  /** Accesses of whole lanes, and of single elements, by address. */
  readonly #whole: Run;
  readonly #elements: Run[] = [];

  constructor(d: Decoding, op: Memory, { offset, surface }: SurfacePlace) {
    const { operands } = d;
    this.#d = d;
    this.#op = op;
    // A surface may be shared local memory.
    this.#access = { ...op.access, space: "generic" };
    this.#offset = operands.slot(offset);
    this.#slots = op.kind === "store" ? op.values.map((v) => v && operands.slot(v)) : d.results;
    this.#address = d.code.file.temporary("i64");
    this.#prepare = operands.prepare;
    this.#whole = this.#byAddress(this.#access, 0, this.#slots);
    this.#find = surfaceFinder(d, operands.scalar(surface));
    this.#last = new LastSurface(accessBytes(this.#access));
    this.#isSimple = d.program.generate && !op.access.volatile && op.access.order === "weak";
  }

  run(x: Activation, mask: number): void {
    this.#prepare(x, mask);
    const bound = this.#find(x, mask);
    const slow = this.#runFast(x, mask, bound);
    if (slow === 0) return;
    const inside = this.#computeAddresses(x, slow, bound, 0, accessBytes(this.#access));
    if (inside !== 0) this.#whole(x, inside);
    const rest = slow & ~inside;
    if (rest !== 0) this.#runElements(x, rest, bound);
  }

  addresses(x: Activation, mask: number, { wide }: LaneAddresses): number {
    this.#prepare(x, mask);
    const inside = this.#computeAddresses(x, mask, this.#find(x, mask), 0, accessBytes(this.#access));
    eachLane(inside, (lane) => {
      wide[lane] = x.i64[this.#address.base + lane]!;
    });
    return inside;
  }

  /**
   * Accesses memory in the lanes whose offsets are within the surface that was accessed last, and returns the other
   * lanes.
   */
  #runFast(x: Activation, mask: number, bound: BoundSurface): number {
    const { kind } = this.#op;
    if (kind === "atomic" || !this.#isSimple || !this.#last.refreshFor(x, bound)) return mask;
    const operand = { slot: this.#offset, offset: 0, high: 0, inFrame: false };
    this.#fast ??= fastPath(kind, this.#access, operand, this.#slots, this.#d.operands.lanes);
    return this.#fast(x, mask, this.#last);
  }

  /** Goes through the elements of lanes that are partly, or not at all, within the surface. */
  #runElements(x: Activation, mask: number, bound: BoundSurface): void {
    const { count, bits, align } = this.#access;
    const bytes = bits / 8;
    // Before any element is accessed: results may take the place of the offsets.
    const found = this.#slots.map((_, e) => this.#computeAddresses(x, mask, bound, e * bytes, bytes));
    this.#slots.forEach((slot, e) => {
      if (this.#op.kind !== "store") clear(x, slot, mask & ~found[e]!);
      if (count === 1 || found[e] === 0) return;
      const single: Access = { ...this.#access, count: 1, align: Math.min(align, bytes) };
      this.#elements[e] ??= this.#byAddress(single, e * bytes, [slot]);
      this.#elements[e](x, found[e]!);
    });
  }

  /**
   * Computes addresses, and returns the lanes in which `bytes` bytes from byte `at` of the access on are within the
   * surface.
   */
  #computeAddresses(x: Activation, mask: number, bound: BoundSurface, at: number, bytes: number): number {
    const { i32 } = x;
    const { base } = bound;
    let inside = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const from = i32[this.#offset.base + lane]! >>> 0;
      const sum = base.low + from;
      const to = 2 * (this.#address.base + lane);
      i32[to] = sum;
      i32[to + 1] = sum > 0xffff_ffff ? base.high + 1 : base.high;
      if (from + at + bytes <= bound.bytes) inside |= 1 << lane;
    }
    return inside;
  }

  /** An access at a distance from the computed addresses. */
  #byAddress(access: Access, offset: number, slots: readonly (Slot | null)[]): Run {
    const { site, operands, program } = this.#d;
    const address = { slot: this.#address, offset, high: 0, inFrame: false };
    const memory: MemoryInstruction = { site, access, address, prepare: () => {}, lanes: operands.lanes };
    const { kind } = this.#op;
    if (kind === "load") return makeLoad(memory, slots, program.generate);
    if (kind === "store") return makeStore(memory, slots, program.generate);
    return makeAtomic(this.#d, memory, this.#op, slots);
  }
}

/** Writes zeros to a register. */
function clear(x: Activation, slot: Slot | null, mask: number): void {
  if (slot === null) return;
  eachLane(mask, (lane) => {
    if (slot.class === "b64") x.i64[slot.base + lane] = 0n;
    else x.i32[slot.base + lane] = 0;
  });
}

/** The surface of an access, and where it lies. */
interface BoundSurface {
  readonly surface: Surface;
  readonly base: AddressParts;
  readonly bytes: number;
}

/** The memory of the surface that an instruction accessed last, by offsets into the surface. */
class LastSurface extends LastExtent {
  #surface: Surface | null = null;

  constructor(size: number) {
    super(0, size);
  }

  /** Whether this surface is remembered; if it is not, it is looked up and remembered now. */
  refreshFor(x: Activation, bound: BoundSurface): boolean {
    if (bound.surface === this.#surface && this.refresh(x)) return true;
    const place = placeOf(x, bound);
    this.#surface = place && bound.surface;
    if (place !== null) this.remember(x, 0, place);
    return place !== null && this.refresh(x);
  }
}

/** Where a surface lies, if that is within one allocation or variable. Its offsets take the place of addresses. */
function placeOf(x: Activation, { base, bytes }: BoundSurface): Place | null {
  const around = locate(x, 0, base);
  if (around === null || around.freed || base.low + bytes > around.end) return null;
  return { ...around, start: 0, end: bytes, at: around.at + base.low - around.start };
}

/** Finds the surface whose index the lanes hold; the last one is remembered. */
function surfaceFinder(
  { site }: Decoding,
  indexIn: (x: Activation, lane: number) => number,
): (x: Activation, mask: number) => BoundSurface {
  let last: BoundSurface | null = null;
  return (x, lanes) => {
    const index = indexIn(x, lowestLane(lanes)) >>> 0;
    const { grid } = x.warp.cta;
    const surface = boundSurface(grid, index, { site, activation: x, lanes });
    if (last?.surface === surface) return last;
    return (last = { surface, base: parts(surface.address), bytes: surfaceBytes(grid, surface) });
  };
}
