import type { PrimName } from "./prims/index.ts";
import type { Ty, Value } from "./types.ts";

/** What a lane can read that is neither a register nor memory. PTX special registers lower to these. */
export type SpecialName =
  | "tid.x"
  | "tid.y"
  | "tid.z"
  | "ntid.x"
  | "ntid.y"
  | "ntid.z"
  | "ctaid.x"
  | "ctaid.y"
  | "ctaid.z"
  | "nctaid.x"
  | "nctaid.y"
  | "nctaid.z"
  | "laneid"
  | "warpid"
  | "nwarpid"
  | "smid"
  | "nsmid"
  | "gridid"
  | "clock"
  | "clock_hi"
  | "clock64"
  | "globaltimer"
  | "globaltimer_lo"
  | "globaltimer_hi"
  | "dynamic_smem_size"
  | "total_smem_size"
  | "aggr_smem_size"
  /** What added to an address in the shared, local, constant or parameter space makes it generic (`i64`; 0 with 32 bits). */
  | "window";

/**
 * Elements of the byte file, one for each lane: with e = lane - `first`, the element at byte
 * `at + ((e div width) * vertical + (e mod width) * horizontal) * bits / 8`. `at` is at least byte-aligned to the element,
 * except where a program aliases variables so that it is not.
 */
export interface Region {
  readonly at: number;
  readonly first: number;
  /** In elements; `width` is a power of two, and 1 where only the vertical stride matters. */
  readonly vertical: number;
  readonly width: number;
  readonly horizontal: number;
}

/** 8- and 16-bit elements are extended as `signed` says; `ty` is `i32` for them, else the type the bits are read in. */
export interface RegionLeaf {
  readonly kind: "region";
  readonly ty: Exclude<Ty, "pred">;
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
  readonly region: Region;
}

/** An element at a computed byte of the file (`i32`). Reading outside of the file gives 0; the instruction names the case. */
export interface IndirectLeaf {
  readonly kind: "indirect";
  readonly ty: Exclude<Ty, "pred">;
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
  readonly address: Expr;
}

/**
 * What a semantics function returns: a directed acyclic graph of primitives over leaves. Parts that are shared are the
 * same object and are computed once.
 *
 * Leaves: `reg` reads a virtual register of the function in the given type (a `b32` register as `i32` or `f32`, a `b64`
 * register as `i64` or `f64`); `special` reads the lane's place in the grid; `symbol` is the address of a module-level
 * variable or function, known when the module is loaded; `frame` is the address of a variable of the current activation;
 * `old` is what memory held, in the `combine` expression of an atomic operation; `region` and `indirect` read the byte file
 * of an activation (vISA's registers); `lane-word` is a predicate's lanes as a number, bit by bit.
 */
export type Expr =
  | { readonly kind: "reg"; readonly ty: Ty; readonly reg: number }
  | { readonly kind: "const"; readonly ty: Ty; readonly value: Value }
  | { readonly kind: "special"; readonly ty: Ty; readonly name: SpecialName }
  | {
      readonly kind: "symbol";
      readonly ty: "i32" | "i64";
      readonly symbol: string;
      readonly offset: number;
      readonly generic: boolean;
    }
  | {
      readonly kind: "frame";
      readonly ty: "i32" | "i64";
      readonly variable: number;
      readonly offset: number;
      readonly generic: boolean;
    }
  | { readonly kind: "old"; readonly ty: Ty; readonly index: number }
  | RegionLeaf
  | IndirectLeaf
  | { readonly kind: "lane-word"; readonly ty: "i32"; readonly reg: number }
  | { readonly kind: "prim"; readonly ty: Ty; readonly prim: PrimName; readonly args: readonly Expr[] };
