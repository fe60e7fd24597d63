import { type Access, genericBases, type Op, surfaceIndex, windows } from "../ir/index.ts";
import { accessBytes } from "../machine/access-fault.ts";
import type { Activation } from "../machine/activation.ts";
import { parts } from "../machine/address-space.ts";
import { Fault } from "../machine/fault.ts";
import type { Surface } from "../machine/launch.ts";
import { makeAtomic } from "./atomic.ts";
import type { Decoding } from "./decode.ts";
import type { Run } from "./expr-compiler.ts";
import { type MemoryInstruction, makeLoad, makeStore } from "./memory-access.ts";
import type { Slot } from "./register-file.ts";

type Memory = Extract<Op, { kind: "load" | "store" | "atomic" }>;

export interface SurfaceStep {
  readonly run: Run;
  readonly addresses: (x: Activation, mask: number, into: BigInt64Array) => number;
}

/**
 * An access by an offset into a surface: of what lies behind its end, element by element, loads give 0 and the rest does
 * nothing. What lies within is accessed by its address.
 */
export function makeSurfaceStep(d: Decoding, op: Memory): SurfaceStep {
  const { operands, site, code } = d;
  const offset = operands.slot(op.address);
  const index = operands.slot(op.surface!);
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

  const bind = surfaceFinder(d, index);
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
      const inside = place(x, mask, bound, 0, accessBytes(access));
      if (inside !== 0) whole(x, inside);
      const rest = mask & ~inside;
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
    addresses: (x, mask, into) => {
      prepare(x, mask);
      const inside = place(x, mask, bind(x, mask), 0, accessBytes(access));
      for (let m = inside; m !== 0; m &= m - 1) {
        const lane = 31 - Math.clz32(m & -m);
        into[lane] = x.i64[address.base + lane]!;
      }
      return inside;
    },
  };
}

interface Bound {
  readonly surface: Surface;
  readonly base: { readonly high: number; readonly low: number };
  readonly bytes: number;
}

/** Finds the surface whose index the lanes hold; the last one is remembered. */
function surfaceFinder({ site }: Decoding, slot: Slot): (x: Activation, mask: number) => Bound {
  let last: Bound | null = null;
  return (x, lanes) => {
    const index = x.i32[slot.base + 31 - Math.clz32(lanes & -lanes)]! >>> 0;
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
