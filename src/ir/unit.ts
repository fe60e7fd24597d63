import type { Space } from "./access.ts";

/** How asynchronous operations reduce elements in memory. */
export type Reduction = "add" | "min" | "max" | "inc" | "dec" | "and" | "or" | "xor";

/** The elements that they reduce. `f32`: subnormal numbers become 0 (`f32ftz`) or stay. */
export type ReducedType = "u32" | "s32" | "u64" | "s64" | "b32" | "b64" | "f16" | "bf16" | "f32" | "f32ftz" | "f64";

/** How an instruction uses a tensor map (`.load_mode`). */
export type TensorMode = "tile" | "tile::gather4" | "tile::scatter4" | "im2col" | "im2col::w" | "im2col::w::128";

/**
 * What a unit of the machine, such as the one that copies ranges of memory, does for each lane that executes an
 * instruction, or for a whole warp. It finds what it needs in the lanes' operands and in memory, and both engines let
 * the same function do it (`program/units/`). Comments give the operands, in order, then the results.
 */
export type UnitOp =
  /**
   * `cp.async.bulk` and `cp.reduce.async.bulk`: address of the destination, address of the source, bytes (`i32`), which
   * bytes of each 16 are written, as bits (`i32`); address of the mbarrier (`completion`; else anything), and the blocks
   * of the cluster that get the bytes, as bits (`i32`, with `multicast`).
   */
  | {
      readonly op: "bulk-copy";
      readonly from: Space;
      readonly to: Space;
      readonly reduction: { readonly op: Reduction; readonly type: ReducedType } | null;
      /** What counts the copy: the transactions of an mbarrier, or the thread's bulk groups. */
      readonly completion: "mbarrier" | "group";
      readonly multicast: boolean;
    }
  /**
   * `cp.async.bulk.tensor` to shared memory: its address, the generic address of the tensor map, address of the
   * mbarrier, blocks of the cluster (as above), `coordinates` coordinates (`i32`), then what im2col adds (`i32`).
   */
  | {
      readonly op: "tensor-load";
      readonly mode: TensorMode;
      /** The dimensions that the instruction names. */
      readonly rank: number;
      readonly coordinates: number;
      readonly info: number;
      readonly to: Space;
      readonly multicast: boolean;
    }
  /**
   * `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` to global memory: address of the source, the generic
   * address of the tensor map, and the coordinates (`i32`).
   */
  | {
      readonly op: "tensor-store";
      readonly mode: TensorMode;
      readonly rank: number;
      readonly coordinates: number;
      readonly reduction: Reduction | null;
    };

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
  "bulk-copy": { warp: false, deciding: 6 },
  "tensor-load": { warp: false, deciding: 12 },
  "tensor-store": { warp: false, deciding: 12 },
};
