import type { Access, Space } from "./access.ts";
import type { AtomicFunction } from "./atomic-function.ts";
import type { ImageBlock, MatrixBlock } from "./blocks.ts";
import type { ImageFetch, ImageKind, ImageQuery, SamplerMessage, SurfaceAccess, SurfaceReduction } from "./images.ts";
import type { WarpgroupProduct } from "./warpgroup-product.ts";
import type { TensorKind } from "./tensor-descriptors.ts";
import type { TensorMove, TensorReduction } from "./tensor-moves.ts";

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
   * bytes of each 16 are written, as bits (`i32`); address of the mbarrier (`completion`; else anything), and the
   * blocks of the cluster that get the bytes, as bits (`i32`, with `multicast`).
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
   * The part of `cp.async` that reads fewer bytes than it writes, in compiled code: address of the destination, address
   * of the source, bytes that are read (`i32`). The others are zeros.
   */
  | { readonly op: "copy-part"; readonly from: Access; readonly to: Access }
  /** `st.bulk`: address of a range of shared memory, its bytes (`i64`). They become zeros, as ordinary stores do it. */
  | { readonly op: "clear-range"; readonly space: Space }
  /**
   * `cp.async.bulk.tensor` to shared memory: its address, the generic address of the tensor map, address of the
   * mbarrier, blocks of the cluster (as above), `coordinates` coordinates (`i32`), then what im2col adds (`i32`).
   */
  | {
      readonly op: "box-load";
      readonly mode: TensorMode;
      /** The dimensions that the instruction names. */
      readonly rank: number;
      readonly coordinates: number;
      readonly info: number;
      readonly to: Space;
      readonly multicast: boolean;
      /** Of each pair of blocks, the mbarrier of the one with the parity of the given mbarrier's (`.cta_group::2`). */
      readonly pairs: boolean;
    }
  /**
   * `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` to global memory: address of the source, the generic
   * address of the tensor map, and the coordinates (`i32`).
   */
  | {
      readonly op: "box-store";
      readonly mode: TensorMode;
      readonly rank: number;
      readonly coordinates: number;
      readonly reduction: Reduction | null;
    }
  /**
   * `wgmma.mma_async`: the descriptor of B, that of A (or 0, if A is in registers), whether C counts (0 or 1; if not, C
   * is zeros), metadata (or 0), the registers of A, the registers of C. Results: the registers of D, which are those of
   * C.
   */
  | { readonly op: "multiply-warpgroup"; readonly product: WarpgroupProduct }
  /**
   * `tcgen05.alloc`: the number of columns. Result: the address in tensor memory, or -1 where the warp has to wait: no
   * columns are free, or the other block of the pair has not come.
   */
  | { readonly op: "tensor-alloc"; readonly pair: boolean }
  /**
   * `tcgen05.dealloc`: the address in tensor memory, the number of columns. Result: 0, or -1 where the warp has to wait
   * for the other block of the pair.
   */
  | { readonly op: "tensor-dealloc"; readonly pair: boolean }
  /** `tcgen05.relinquish_alloc_permit`. */
  | { readonly op: "tensor-relinquish"; readonly pair: boolean }
  /** `tcgen05.ld`: the address in tensor memory. Results: the registers, then what they are combined to. */
  | { readonly op: "tensor-load"; readonly move: TensorMove; readonly reduction: TensorReduction | null }
  /** `tcgen05.st`: the address in tensor memory, the registers. */
  | { readonly op: "tensor-store"; readonly move: TensorMove }
  /**
   * `tcgen05.mma`: addresses of D and of A in tensor memory, or A's descriptor; B's descriptor; the instruction's;
   * whether D is added (0 or 1); then those that the fields name: the address of A's metadata, those of the scales of A
   * and B, the mask of D's lanes that stay as they are in words of 32 lanes, the descriptor of columns of B that count
   * as zero.
   */
  | ({ readonly op: "tensor-multiply" } & TensorMultiply)
  /** `tcgen05.cp`: the address in tensor memory, the descriptor of the matrix in shared memory. */
  | { readonly op: "tensor-copy"; readonly copy: TensorCopy }
  /** `tcgen05.shift`: the address in tensor memory. */
  | { readonly op: "tensor-shift"; readonly pair: boolean }
  /** `tcgen05.wait`: for the warp's loads or stores. */
  | { readonly op: "tensor-wait"; readonly of: "loads" | "stores" }
  /**
   * `tex`, `tld4`: the texture, the sampler (`i64`; 0 without `hasSampler`), coordinates, the level or two gradients,
   * offsets in texels, the value to compare. Results: four components, or pairs of them; whether they are resident.
   */
  | { readonly op: "image-fetch"; readonly fetch: ImageFetch }
  /** `suld`: the surface (`i64`), four coordinates (`i32`). Results: the elements. */
  | { readonly op: "surface-load"; readonly access: SurfaceAccess }
  /** `sust`: the surface (`i64`), four coordinates (`i32`), the elements. */
  | { readonly op: "surface-store"; readonly access: SurfaceAccess }
  /** `sured`: the surface (`i64`), four coordinates (`i32`), the element. */
  | { readonly op: "surface-reduce"; readonly reduction: SurfaceReduction }
  /** `txq`, `suq`: the object (`i64`), the level (`i32`; 0 for the base). Result: the attribute. */
  | { readonly op: "image-query"; readonly query: ImageQuery; readonly of: "texture" | "surface" }
  /** `istypep`: a value (`i64`). Result: whether it is the handle of an object of the kind, or the address of one. */
  | { readonly op: "image-test"; readonly of: ImageKind }
  /**
   * vISA's samples and loads: the indices of the surface and the sampler (`i32`), the parameters. Results: channels.
   */
  | { readonly op: "sampler-message"; readonly message: SamplerMessage }
  /**
   * `gather4_typed`: the surface, u, v, r, the level (`i32`; with `samples` the sample of a texel). Results: the
   * channels, from 0.
   */
  | { readonly op: "typed-load"; readonly channels: readonly number[]; readonly samples: boolean }
  /** `scatter4_typed`: the same operands, then the channels. */
  | { readonly op: "typed-store"; readonly channels: readonly number[]; readonly samples: boolean }
  /**
   * `typed_atomic`, typed `lsc_atomic`: the same operands, then two of as many bits. Result: the element as it was;
   * after `predec` as it is.
   */
  | {
      readonly op: "typed-atomic";
      readonly function: AtomicFunction;
      readonly bits: 16 | 32 | 64;
      readonly samples: boolean;
    }
  /**
   * `lsc_load_block2d` of memory: the address of the matrix (`i64`), bytes of its rows less 1, rows less 1, bytes from
   * a row to the next less 1, column and row of the block (`i32`). Results: the registers, dword by dword.
   */
  | { readonly op: "block-load"; readonly block: MatrixBlock }
  /** `lsc_store_block2d` of memory: the same, then the dwords. */
  | { readonly op: "block-store"; readonly block: MatrixBlock }
  /** `media_ld`, typed `lsc_load_block2d`: the surface, the byte of the row, the row (`i32`). Results: dwords. */
  | { readonly op: "image-block-load"; readonly block: ImageBlock }
  /** `media_st`, typed `lsc_store_block2d`: the same, then the dwords. */
  | { readonly op: "image-block-store"; readonly block: ImageBlock }
  /**
   * `sample_unorm`: the surface, the sampler, u and v of the first pixel, the distances of the others (`i32`). Results:
   * dwords, two pixels in each.
   */
  | { readonly op: "sample-block"; readonly channels: readonly number[] }
  /** The first half of `dpasw`: a thread offers so many dwords of src2 to the one that it is fused with. */
  | { readonly op: "fused-offer"; readonly dwords: number }
  /**
   * The second half: 1, or 0 as long as the other thread has not offered its own, and then dwords of both: `first` of
   * the thread with the even number, `second` of the other.
   */
  | { readonly op: "fused-take"; readonly first: number; readonly second: number }
  /** `sampleinfo`: the surface (`i32`). Results: of the number of samples and three zeros those listed. */
  | { readonly op: "sample-count"; readonly channels: readonly number[] }
  /** `resinfo`: the surface, the level (`i32`). Results: of width, height, depth and number of levels those listed. */
  | { readonly op: "surface-size"; readonly channels: readonly number[] }
  /**
   * In code that watches itself: shows sanitizers the instruction with a number among those that they want to see,
   * which lanes are about to execute or, `after` a barrier, have executed. The addresses of its accesses that they
   * watch, in order, or the descriptors of a product (as above).
   */
  | { readonly op: "observe"; readonly number: number; readonly after: boolean };

/** How `tcgen05.mma` multiplies, beyond what its descriptors say. */
export interface TensorMultiply {
  /** Both blocks of a pair take part (`.cta_group::2`), with their halves of A, B and D. */
  readonly pair: boolean;
  readonly kind: TensorKind;
  readonly fromTensorMemory: boolean;
  readonly sparse: boolean;
  /** B stays in the unit (`.ws`). */
  readonly stationary: boolean;
  /** Row i of A is in the lane of row i + 1, except for the last (`.ashift`). */
  readonly shifted: boolean;
  /** Scales of a row, with k a power of two; null: none. */
  readonly scales: 1 | 2 | 4 | null;
  readonly masked: boolean;
  readonly zeroColumns: boolean;
  /** D is divided by 2 to this power first. */
  readonly scaleD: number;
}

/** What `tcgen05.cp` copies. */
export interface TensorCopy {
  /** Each block of a pair copies its own matrix (`.cta_group::2`). */
  readonly pair: boolean;
  /** Rows of the matrix, and bytes of each in tensor memory. */
  readonly rows: 4 | 32 | 64 | 128;
  readonly bytes: 16 | 32;
  /** Which quarters of the lanes get the same: pairs of them, all, or none. */
  readonly multicast: "02_13" | "01_23" | "all" | null;
  /** Bits of elements of which each 16 are unpacked to bytes. */
  readonly unpacked: 4 | 6 | null;
}

/** The unit operation of a kind. */
export type UnitOpOf<K extends UnitOp["op"]> = Extract<UnitOp, { op: K }>;

/** Whether other blocks of the cluster may see what a unit operation does, or have to do with it. */
export function reachesCluster(unit: UnitOp): boolean {
  if (unit.op === "tensor-copy") return unit.copy.pair;
  return ("pair" in unit && unit.pair) || ("to" in unit && unit.to === "shared-cluster");
}

/** How unit operations of a kind behave. */
export interface UnitTraits {
  /** All lanes of a warp perform it together; else each lane by itself. */
  readonly warp: boolean;
  /**
   * The number of operands, from the first, that decide what is done, such as addresses and sizes: they must be
   * defined. The others are data.
   */
  readonly deciding: number;
  /** What these operands are, for reports; by default those of an asynchronous operation. */
  readonly asks?: string;
  /** It takes something that the block must give back before it ends. */
  readonly takes?: true;
  /** It copies from one memory to another, or reduces into that, asynchronously. */
  readonly copies?: true;
}

const surface = "the place in a surface";

/** Every unit operation. Adding one without describing it here is a compile error. */
export const unitTraits: { readonly [K in UnitOp["op"]]: UnitTraits } = {
  "multiply-warpgroup": { warp: true, deciding: 3 },
  "tensor-alloc": { warp: true, deciding: 1, takes: true },
  "tensor-dealloc": { warp: true, deciding: 2 },
  "tensor-relinquish": { warp: true, deciding: 0 },
  "tensor-load": { warp: true, deciding: 1 },
  "tensor-store": { warp: true, deciding: 1 },
  "tensor-multiply": { warp: false, deciding: Infinity },
  "tensor-copy": { warp: false, deciding: 2, copies: true },
  "tensor-shift": { warp: false, deciding: 1 },
  "tensor-wait": { warp: true, deciding: 0 },
  "copy-part": { warp: false, deciding: 3 },
  "bulk-copy": { warp: false, deciding: 6, copies: true },
  "clear-range": { warp: false, deciding: 2, asks: "the range that is cleared" },
  "box-load": { warp: false, deciding: 12, copies: true },
  "box-store": { warp: false, deciding: 12, copies: true },
  "image-fetch": { warp: false, deciding: Infinity, asks: "what is fetched from a texture" },
  "surface-load": { warp: false, deciding: 5, asks: surface },
  "surface-store": { warp: false, deciding: 5, asks: surface },
  "surface-reduce": { warp: false, deciding: 5, asks: surface },
  "image-query": { warp: false, deciding: 2, asks: "what is asked about an image" },
  "sampler-message": { warp: false, deciding: Infinity, asks: "what is asked of the sampler" },
  "typed-load": { warp: false, deciding: 4, asks: surface },
  "typed-store": { warp: false, deciding: 4, asks: surface },
  "typed-atomic": { warp: false, deciding: 4, asks: surface },
  "block-load": { warp: false, deciding: 6, asks: "the place of a block" },
  "block-store": { warp: false, deciding: 6, asks: "the place of a block" },
  "image-block-load": { warp: false, deciding: 3, asks: surface },
  "image-block-store": { warp: false, deciding: 3, asks: surface },
  "sample-block": { warp: false, deciding: Infinity, asks: "what is asked of the sampler" },
  "fused-offer": { warp: false, deciding: 0 },
  "fused-take": { warp: false, deciding: 0 },
  "sample-count": { warp: false, deciding: 1, asks: "what is asked about an image" },
  "surface-size": { warp: false, deciding: 2, asks: "what is asked about an image" },
  "image-test": { warp: false, deciding: 1, asks: "what is asked about an image" },
  observe: { warp: false, deciding: 0 },
};
