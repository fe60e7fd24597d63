import type { WasmTy } from "./operation.ts";
import type { ValueOp } from "./value-ops.ts";

/**
 * A value that WebAssembly computes, as a directed acyclic graph. Parts that are the same object are computed once. No
 * part has a side effect, so they can be computed in any order, and all but the branches of an `if` even if they are
 * not needed.
 */
export type Wasm =
  /** An argument of the graph, by position. */
  | { readonly kind: "operand"; readonly ty: WasmTy; readonly index: number }
  | { readonly kind: "local"; readonly ty: WasmTy; readonly local: number }
  | { readonly kind: "const"; readonly ty: "i32" | "f32" | "f64"; readonly value: number }
  | { readonly kind: "const"; readonly ty: "i64"; readonly value: bigint }
  /** 16 bytes. */
  | { readonly kind: "const"; readonly ty: "v128"; readonly value: readonly number[] }
  | {
      readonly kind: "op";
      readonly ty: WasmTy;
      readonly op: ValueOp;
      readonly args: readonly Wasm[];
      /** The lane of an operation on a single lane, or the 16 byte indices of a shuffle. */
      readonly immediates: readonly number[];
    }
  /** The first value if the condition (i32) is not 0, else the second; both are computed. */
  | { readonly kind: "select"; readonly ty: WasmTy; readonly args: readonly [Wasm, Wasm, Wasm] }
  /** The same, but only the selected value is computed. */
  | { readonly kind: "if"; readonly ty: WasmTy; readonly args: readonly [Wasm, Wasm, Wasm] }
  | { readonly kind: "call"; readonly ty: WasmTy; readonly function: LibraryFunction; readonly args: readonly Wasm[] }
  /** A host function without side effects. Modules import it if something in them calls it. */
  | { readonly kind: "import"; readonly ty: WasmTy; readonly name: string; readonly args: readonly Wasm[] };

/** Optional features of a machine. */
export interface Features {
  /** `f32x4.relaxed_madd` and `f64x2.relaxed_madd` exist and round once. */
  readonly fusedMadd: boolean;
  /** `i8x16.relaxed_laneselect` exists. It is one instruction of a processor, where `v128.bitselect` is three. */
  readonly laneSelect: boolean;
}

/** What every machine has. */
export const noFeatures: Features = { fusedMadd: false, laneSelect: false };

/** A function that modules contain if something in them calls it. Functions with the same name are the same. */
export interface LibraryFunction {
  readonly name: string;
  readonly params: readonly WasmTy[];
  readonly result: WasmTy;
  /** The function's value, for arguments of the types in `params`. */
  readonly body: (...params: Wasm[]) => Wasm;
  /** Code that replaces calls on machines with a feature; it gives the same results. */
  readonly native?: { readonly feature: keyof Features; readonly body: (...args: Wasm[]) => Wasm };
}
