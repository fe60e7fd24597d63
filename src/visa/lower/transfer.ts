import { plainAccess } from "../../ir/index.ts";
import type { Slot, Slots } from "../access-slots.ts";
import type { ExecSize, RawOperand } from "../tree.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { loadFrom, type MemoryLocation, storeTo } from "./memory-location.ts";
import { type RawElements, rawSource, rawTarget } from "./raw-operand.ts";

/** A move between memory and registers. */
export interface Transfer extends Slots {
  readonly location: MemoryLocation;
  /** Alignment of the first address, in bytes. */
  readonly align: number;
  readonly registers: RawOperand;
  readonly exec: Pick<ExecSize, "offset">;
}

export function load(context: LowerContext, t: Transfer): Lowered {
  const bits = t.wide ?? t.bits;
  const dst = t.slots.map((slot) => {
    if (slot === null) return null;
    return rawTarget(context, t.registers, elementsOf(t, slot, bits));
  });
  return { op: loadFrom(t.location, plainAccess(t.location.space, t.bits, t.slots.length, t.align)), dst };
}

export function store(context: LowerContext, t: Transfer): Lowered {
  const { bits } = t;
  const values = t.slots.map((slot) => {
    if (slot === null) return null;
    return rawSource(context, t.registers, elementsOf(t, slot, bits));
  });
  return { op: storeTo(t.location, plainAccess(t.location.space, bits, t.slots.length, t.align), values), dst: [] };
}

const elementsOf = ({ exec }: Transfer, { at, stride }: Slot, bits: RawElements["bits"]): RawElements => ({
  bits,
  exec,
  element: (at * 8) / bits,
  stride: (stride * 8) / bits,
});
