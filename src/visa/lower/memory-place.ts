import { type Access, atAddress, type Op, type Place, type Space, windows } from "../../ir/index.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import type { NameOperand } from "../tree.ts";
import type { LowerContext } from "./context.ts";

/** Where a lane accesses memory: what a load, a store and an atomic operation have in common. */
export interface MemoryPlace {
  readonly space: Space;
  readonly place: Place;
}

/** By a 64-bit address (`i64`). */
export const globalPlace = (address: Expr): MemoryPlace => ({ space: "global", place: atAddress(address) });

/** Bits that the hardware decodes of an offset into shared local memory; some kernels set others. */
const slmBits = 0x00ff_ffff;

/** At bytes (`i32`) of shared local memory. */
export const slmPlace = (offset: Expr): MemoryPlace => ({
  space: "shared",
  place: atAddress(k.add(k.and(offset, k.i32(slmBits)), k.i32(windows.shared.start))),
});

/** At bytes (`i32`, unsigned) of the surface with an index (`i32`). */
export const surfacePlace = (surface: Expr, offset: Expr): MemoryPlace => ({
  space: "global",
  place: { kind: "surface", offset, surface },
});

/** The place `bytes` bytes after another. */
export function placeAfter({ space, place }: MemoryPlace, bytes: number): MemoryPlace {
  const moved = (from: Expr): Expr => k.add(from, k.int(from, bytes));
  return place.kind === "address"
    ? { space, place: atAddress(moved(place.address)) }
    : { space, place: { ...place, offset: moved(place.offset) } };
}

/** At bytes of what a surface variable stands for. */
export function variablePlace(context: LowerContext, { name }: NameOperand, offset: Expr): MemoryPlace {
  const variable = context.variable(name);
  if (variable.predefined && variable.name === "%slm") return slmPlace(offset);
  const region = { at: context.placeOf(variable), first: 0, vertical: 0, width: 1, horizontal: 0 };
  return surfacePlace({ kind: "region", ty: "i32", bits: 32, signed: false, region }, offset);
}

/** `count` elements, aligned to `align` bytes. */
export const plainAccess = (
  { space }: MemoryPlace,
  bits: Access["bits"],
  count: number,
  align: number = bits / 8,
): Access => ({ space, bits, signed: false, count, align, volatile: false, order: "weak", scope: null });

export const atomicAccess = (place: MemoryPlace, bits: Access["bits"]): Access => ({
  ...plainAccess(place, bits, 1),
  order: "relaxed",
  scope: place.space === "shared" ? "cta" : "gpu",
});

export const loadFrom = ({ place }: MemoryPlace, access: Access): Op => ({ kind: "load", access, place });

export const storeTo = ({ place }: MemoryPlace, access: Access, values: readonly (Expr | null)[]): Op => ({
  kind: "store",
  access,
  place,
  values,
});

export const atomicAt = ({ place }: MemoryPlace, access: Access, combine: Expr): Op => ({
  kind: "atomic",
  access,
  place,
  combine: [combine],
});
