import type { Slots } from "../access-slots.ts";
import type { ExecSize, RawOperand } from "../tree.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { loadFrom, type MemoryPlace, plainAccess, storeTo } from "./memory-place.ts";
import { rawRegion, rawTarget } from "./operands.ts";

/** What moves between memory and registers. */
export interface Transfer extends Slots {
  readonly place: MemoryPlace;
  /** Bytes: what the first address must be a multiple of. */
  readonly align: number;
  readonly registers: RawOperand;
  readonly exec: Pick<ExecSize, "offset">;
}

export function load(context: LowerContext, t: Transfer): Lowered {
  const bits = t.wide ?? t.bits;
  const dst = t.slots.map((slot) => {
    if (slot === null) return null;
    return rawTarget(context, t.registers, bits, t.exec, (slot.at * 8) / bits, (slot.stride * 8) / bits);
  });
  return { op: loadFrom(t.place, plainAccess(t.place, t.bits, t.slots.length, t.align)), dst };
}

export function store(context: LowerContext, t: Transfer): Lowered {
  const { bits } = t;
  const values = t.slots.map((slot) => {
    if (slot === null) return null;
    return rawRegion(context, t.registers, bits, false, t.exec, (slot.at * 8) / bits, (slot.stride * 8) / bits);
  });
  return { op: storeTo(t.place, plainAccess(t.place, bits, t.slots.length, t.align), values), dst: [] };
}
