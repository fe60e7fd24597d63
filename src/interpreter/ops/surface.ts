import { type Access, genericBases, type Place as IrPlace, type Op, surfaceIndex, windows } from "../../ir/index.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/activation.ts";
import type { LaneAddresses } from "../../machine/state/code.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
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
 * An access by an offset into a surface: of what lies behind its end, element by element, loads give 0 and the rest does
 * nothing. What lies within is accessed by its address.
 */
export function makeSurfaceStep(d: Decoding, op: Memory, { offset: at, surface }: SurfacePlace): SurfaceStep {
  const { operands, site, code } = d;
  const offset = operands.slot(at);
  const sources = op.kind === "store" ? op.values.map((v) => v && operands.slot(v)) : [];
  const address = code.file.temporary("i64");
  const { prepare, lanes } = operands;
  // A surface may be shared local memory.
  const access: Access = { ...op.access, space: "generic" };
  const elementBytes = access.bits / 8;

  const make = (how: Access, at: number, values: readonly (Slot | null)[]): Run => {
    const operand = { slot: address, offset: at, high: 0, inFrame: false };
    const memory: MemoryInstruction = { site, access: how, address: operand, prepare: () => {}, lanes };
    if (op.kind === "load") return makeLoad(memory, values, d.engine.generate);
    if (op.kind === "store") return makeStore(memory, values, d.engine.generate);
    return makeAtomic(d, memory, op.combine, values);
  };
  const slots = op.kind === "store" ? sources : d.results;
  const whole = make(access, 0, slots);
  const single: Access = { ...access, count: 1, align: Math.min(access.align, elementBytes) };
  const elements: Run[] = [];

  /** Computes the addresses; returns the lanes of which `bytes` from byte `at` of the access lie within the surface. */
  const place = (x: Activation, mask: number, { base, bytes: size }: Bound, at: number, bytes: number): number => {
    const { i32 } = x;
    let inside = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const from = i32[offset.base + lane]! >>> 0;
      const sum = base.low + from;
      i32[2 * (address.base + lane)] = sum;
      i32[2 * (address.base + lane) + 1] = sum > 0xffff_ffff ? base.high + 1 : base.high;
      if (from + at + bytes <= size) inside |= 1 << lane;
    }
    return inside;
  };

  const bind = surfaceFinder(d, operands.scalar(surface));
  const reach = new SurfaceReach(accessBytes(access));
  const simple = d.engine.generate && !access.volatile && access.order === "weak";
  let fast: FastPath | null = null;
  /** Accesses in the lanes whose offsets are as good as most are, and returns the others. */
  const quickly = (x: Activation, mask: number, bound: Bound): number => {
    if (op.kind === "atomic" || !simple || !reach.refreshFor(x, bound)) return mask;
    const operand = { slot: offset, offset: 0, high: 0, inFrame: false };
    fast ??= fastPath(op.kind, access, operand, slots, lanes);
    return fast(x, mask, reach);
  };
  const zero = (x: Activation, slot: Slot | null | undefined, mask: number): void => {
    if (!slot) return;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = slot.base + 31 - Math.clz32(m & -m);
      if (slot.class === "b64") x.i64[lane] = 0n;
      else x.i32[lane] = 0;
    }
  };

  return {
    run: (x, mask) => {
      prepare(x, mask);
      const bound = bind(x, mask);
      const slow = quickly(x, mask, bound);
      if (slow === 0) return;
      const inside = place(x, slow, bound, 0, accessBytes(access));
      if (inside !== 0) whole(x, inside);
      const rest = slow & ~inside;
      if (rest === 0) return;
      // Results may take the place of the offsets.
      const found = slots.map((_, e) => place(x, rest, bound, e * elementBytes, elementBytes));
      slots.forEach((slot, e) => {
        if (op.kind !== "store") zero(x, slot, rest & ~found[e]!);
        if (access.count === 1 || found[e] === 0) return;
        elements[e] ??= make(single, e * elementBytes, [slot]);
        elements[e](x, found[e]!);
      });
    },
    addresses: (x, mask, { wide }) => {
      prepare(x, mask);
      const inside = place(x, mask, bind(x, mask), 0, accessBytes(access));
      for (let m = inside; m !== 0; m &= m - 1) {
        const lane = 31 - Math.clz32(m & -m);
        wide[lane] = x.i64[address.base + lane]!;
      }
      return inside;
    },
  };
}

interface Bound {
  readonly surface: Surface;
  readonly base: AddressParts;
  readonly bytes: number;
}

/** The memory of the surface that an instruction accessed last, by offsets into the surface. */
class SurfaceReach extends LastExtent {
  #surface: Surface | null = null;

  constructor(size: number) {
    super(0, size);
  }

  /** Whether what is remembered, perhaps from now on, is this surface. */
  refreshFor(x: Activation, bound: Bound): boolean {
    if (bound.surface === this.#surface && this.refresh(x)) return true;
    const place = placeOf(x, bound);
    this.#surface = place && bound.surface;
    if (place !== null) this.remember(x, 0, place);
    return place !== null && this.refresh(x);
  }
}

/** Where a surface lies, if that is within one allocation or variable. Its offsets take the place of addresses. */
function placeOf(x: Activation, { base, bytes }: Bound): Place | null {
  const around = locate(x, 0, base);
  if (around === null || around.freed || base.low + bytes > around.end) return null;
  return { ...around, start: 0, end: bytes, at: around.at + base.low - around.start };
}

/** Finds the surface whose index the lanes hold; the last one is remembered. */
function surfaceFinder(
  { site }: Decoding,
  indexIn: (x: Activation, lane: number) => number,
): (x: Activation, mask: number) => Bound {
  let last: Bound | null = null;
  return (x, lanes) => {
    const index = indexIn(x, 31 - Math.clz32(lanes & -lanes)) >>> 0;
    const { grid } = x.warp.cta;
    const surface = grid.threads?.surfaces.get(index) ?? (index === surfaceIndex.slm ? sharedMemory : undefined);
    if (surface === undefined) {
      throw new Fault("surface-unbound", `no surface is bound to index ${index}`, { site, activation: x, lanes });
    }
    if (last?.surface === surface) return last;
    const bytes = surface === sharedMemory ? grid.dynamicSharedBytes : surface.bytes;
    return (last = { surface, base: parts(surface.address), bytes });
  };
}

const sharedMemory: Surface = { address: genericBases[64].window + BigInt(windows.shared.start), bytes: 0 };
