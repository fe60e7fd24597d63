import {
  type Access,
  atAddress,
  type Op,
  type Place,
  plainAccess,
  slmBits,
  type Space,
  windows,
} from "../../ir/index.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import type { NameOperand } from "../tree.ts";
import type { LowerContext } from "./context.ts";

/** Where each lane accesses memory: what loads, stores and atomic operations have in common. */
export interface MemoryLocation {
  readonly space: Space;
  readonly place: Place;
  /** Of shared local memory: the offset (`i32`) of which the hardware decodes the low bits. */
  readonly slmOffset?: Expr;
}

/** A 64-bit address (`i64`). */
export const globalLocation = (address: Expr): MemoryLocation => ({ space: "global", place: atAddress(address) });

/** An offset (`i32`, bytes) into shared local memory. */
export const slmLocation = (offset: Expr): MemoryLocation => ({
  space: "shared",
  place: atAddress(k.add(k.and(offset, k.i32(slmBits)), k.i32(windows.shared.start))),
  slmOffset: offset,
});

/** An offset (`i32`, unsigned, bytes) into the surface with an index (`i32`). */
export const surfaceLocation = (surface: Expr, offset: Expr): MemoryLocation => ({
  space: "global",
  place: { kind: "surface", offset, surface },
});

/** The location `bytes` bytes after another. */
export function locationAfter(location: MemoryLocation, bytes: number): MemoryLocation {
  if (bytes === 0) return location;
  const { space, place, slmOffset } = location;
  if (slmOffset !== undefined) return slmLocation(k.add(slmOffset, k.i32(bytes)));
  const moved = (from: Expr): Expr => k.add(from, k.int(from, bytes));
  return place.kind === "address"
    ? { space, place: atAddress(moved(place.address)) }
    : { space, place: { ...place, offset: moved(place.offset) } };
}

/** An offset (bytes) into the memory that a surface variable stands for. */
export function variableLocation(context: LowerContext, { name }: NameOperand, offset: Expr): MemoryLocation {
  const variable = context.variable(name);
  if (variable.predefined && variable.name === "%slm") return slmLocation(offset);
  const region = { at: context.offsetOf(variable), first: 0, vertical: 0, width: 1, horizontal: 0 };
  return surfaceLocation({ kind: "region", ty: "i32", bits: 32, signed: false, region }, offset);
}

/** An access of atomic operations: to shared memory visible to the group, else to the device. */
export const atomicAccess = (location: MemoryLocation, bits: Access["bits"]): Access => ({
  ...plainAccess(location.space, bits),
  order: "relaxed",
  scope: location.space === "shared" ? "cta" : "gpu",
});

export const loadFrom = ({ place }: MemoryLocation, access: Access): Op => ({ kind: "load", access, place });

export const storeTo = ({ place }: MemoryLocation, access: Access, values: readonly (Expr | null)[]): Op => ({
  kind: "store",
  access,
  place,
  values,
});

export const atomicAt = ({ place }: MemoryLocation, access: Access, combine: Expr): Op => ({
  kind: "atomic",
  access,
  place,
  combine: [combine],
});
