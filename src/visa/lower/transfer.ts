import type { Access } from "../../ir/index.ts";
import type { ExecSize, RawOperand } from "../tree.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { loadFrom, type Place, plainAccess, storeTo } from "./memory-place.ts";
import { rawRegion, rawTarget } from "./operands.ts";

/** Where an element of each lane lies in a register operand, in bytes from its beginning and from lane to lane. */
export interface Slot {
  readonly at: number;
  readonly stride: number;
}

/** What lies in a lane's memory one behind the other and in registers elsewhere. */
export interface Transfer {
  readonly place: Place;
  /** Of an element in memory. */
  readonly bits: Access["bits"];
  /** Of an element in registers: loads extend it with zeros, stores take the low bits. Absent: as in memory. */
  readonly wide?: 32;
  /** Bytes: what the first address must be a multiple of. */
  readonly align: number;
  /** Null: stays as it is. */
  readonly slots: readonly (Slot | null)[];
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
