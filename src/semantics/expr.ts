import type { PrimName } from "./prims/index.ts";
import type { Ty, Value } from "./types.ts";

/** A value that a lane can read which is neither a register nor memory. PTX special registers lower to these. */
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
  | "envreg1"
  | "envreg2"
  | "current_graph_exec"
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
  | "clusterid.x"
  | "clusterid.y"
  | "clusterid.z"
  | "nclusterid.x"
  | "nclusterid.y"
  | "nclusterid.z"
  | "cluster_ctaid.x"
  | "cluster_ctaid.y"
  | "cluster_ctaid.z"
  | "cluster_nctaid.x"
  | "cluster_nctaid.y"
  | "cluster_nctaid.z"
  | "cluster_ctarank"
  | "cluster_nctarank"
  | "is_explicit_cluster"
  /**
   * The offset that makes an address in the shared, local, constant or parameter space generic (`i64`; 0 with 32 bits).
   */
  | "window";

/**
 * Elements of the byte file, one for each lane. With e = lane - `first`, the element begins at byte
 *
 *     at + ((e div width) * vertical + (e mod width) * horizontal) * bits / 8
 *
 * It is aligned to its size, unless the program aliases variables in a way that breaks this.
 */
export interface Region {
  readonly at: number;
  readonly first: number;
  /** Strides in elements. `width` is a power of two, and 1 if only the vertical stride matters. */
  readonly vertical: number;
  readonly width: number;
  readonly horizontal: number;
}

/**
 * The elements that a leaf reads from the byte file. 8- and 16-bit elements are extended according to `signed` and have
 * type `i32`; for others `ty` is the type that the bits are read as.
 */
export interface FileElement {
  readonly ty: Exclude<Ty, "pred">;
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}

/** A read of one element per lane. */
export interface RegionLeaf extends FileElement {
  readonly kind: "region";
  readonly region: Region;
}

/**
 * A read of the element at a computed byte offset in the file (`i32`). Outside the file it gives 0, and the instruction
 * reports the access.
 */
export interface IndirectLeaf extends FileElement {
  readonly kind: "indirect";
  readonly address: Expr;
}

/**
 * The result of a semantics function: a directed acyclic graph of primitives over leaves. Shared parts are the same
 * object and are computed once.
 *
 * Leaves:
 * * `reg` reads a virtual register of the function in the given type (a `b32` register as `i32` or `f32`, a `b64`
 *   register as `i64` or `f64`);
 * * `special` reads the lane's position in the grid and the like;
 * * `symbol` is the address of a module-level variable or function, known when the module is loaded;
 * * `frame` is the address of a variable of the current activation;
 * * `old` is the previous content of memory, in the `combine` expression of an atomic operation;
 * * `region` and `indirect` read the byte file of an activation (vISA's registers);
 * * `lane-word` is the value of a predicate in all lanes, as a bit mask.
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

/** Whether an expression is a number, this one. */
export const isConst = (expr: Expr | undefined, value: number): boolean =>
  expr?.kind === "const" && typeof expr.value !== "boolean" && Number(expr.value) === value;
