/**
 * Lane IR, to which PTX and vISA are lowered and which the engines run: an `IrModule` has variables and functions, an
 * `IrFunction` has virtual registers, a frame and a flat list of instructions, and an `Instruction` is an operation
 * (`Op`) over expressions (`Expr`). `opTraits` says how each kind of operation behaves.
 *
 * @module lanewise/ir
 */
export * from "./access.ts";
export * from "./address-map.ts";
export * from "./arrangement.ts";
export * from "./atomic-function.ts";
export * from "./blocks.ts";
export * from "./byte-file.ts";
export * from "./calls.ts";
export * from "./images.ts";
export * from "./instruction.ts";
export * from "./partial-copy.ts";
export * from "./lanes.ts";
export * from "./matrix-product.ts";
export * from "./mbarrier.ts";
export * from "./module.ts";
export * from "./op-traits.ts";
export * from "./operands.ts";
export * from "./sparse-metadata.ts";
export * from "./block-scales.ts";
export * from "./origin.ts";
export * from "./shared-matrix.ts";
export * from "./signature.ts";
export * from "./warpgroup-product.ts";
export * from "./tensor-descriptors.ts";
export * from "./tensor-moves.ts";
export * from "./tensor-map.ts";
export * from "./unit.ts";
export * from "./work-item-model.ts";
export type { ScaleFormat } from "../numeric/block-scale.ts";
export type { TensorFormat, TensorSum } from "../numeric/tensor.ts";
export type { DebugSection, DebugSections, SymbolReference } from "../dwarf/index.ts";
export type {
  Expr,
  FileElement,
  HostValue,
  IndirectLeaf,
  LeafValue,
  PrimName,
  Region,
  RegionLeaf,
  SpecialName,
  Ty,
  Value,
} from "../semantics/index.ts";
