import type { Space } from "./access.ts";

/**
 * What a unit of the machine, such as the one that copies ranges of memory, does for each lane that executes an
 * instruction, or for a whole warp. It finds what it needs in the lanes' operands and in memory, and both engines let
 * the same function do it (`program/units/`). Comments give the operands, in order, then the results.
 */
export type UnitOp =
  /**
   * `cp.async.bulk` to global memory: address of the destination, address of the source, bytes (`i32`), which bytes of
   * each 16 are written, as bits (`i32`).
   */
  { readonly op: "bulk-store"; readonly from: Space; readonly to: Space };

/** The unit operation of a kind. */
export type UnitOpOf<K extends UnitOp["op"]> = Extract<UnitOp, { op: K }>;

/** How unit operations of a kind behave. */
export interface UnitTraits {
  /** All lanes of a warp perform it together; else each lane by itself. */
  readonly warp: boolean;
  /**
   * The number of operands, from the first, that decide what is done, such as addresses and sizes: they must be
   * defined. The others are data.
   */
  readonly deciding: number;
}

/** Every unit operation. Adding one without describing it here is a compile error. */
export const unitTraits: { readonly [K in UnitOp["op"]]: UnitTraits } = {
  "bulk-store": { warp: false, deciding: 4 },
};
