import type { TensorFill, TensorInterleave, TensorL2Promotion, TensorSwizzle, TensorType } from "../../ir/index.ts";
import { tensorMapProblem } from "../../program/tensor/map-problem.ts";
import { decodeTensorMap, encodeTensorMap, type TensorBox } from "../../program/tensor/tensor-map.ts";
import { type Struct, struct } from "./argument.ts";
import { Buffer, type Pointer } from "./buffer.ts";
import { UsageError } from "./errors.ts";

/** What cuTensorMapEncodeIm2col has instead of a box. Corners have rank - 2 numbers, the fastest dimension first. */
export interface Im2colBox {
  readonly pixelBoxLowerCorner: readonly number[];
  readonly pixelBoxUpperCorner: readonly number[];
  readonly channelsPerPixel: number;
  readonly pixelsPerColumn: number;
}

/** What cuTensorMapEncodeIm2colWide has instead of a box. */
export interface Im2colWideBox {
  readonly pixelBoxLowerCornerWidth: number;
  readonly pixelBoxUpperCornerWidth: number;
  readonly channelsPerPixel: number;
  readonly pixelsPerColumn: number;
}

/** The shape of a tensor and of its boxes, as the functions cuTensorMapEncode take them, but for the address. */
export interface TensorShape {
  readonly dataType: TensorType;
  /** In elements, the fastest dimension first; 1 to 5 numbers. */
  readonly globalDim: readonly number[];
  /** In bytes, of all dimensions but the first: multiples of 16. */
  readonly globalStrides: readonly number[];
  /** In elements. Exactly one of `boxDim`, `im2col` and `im2colWide` is given. */
  readonly boxDim?: readonly number[];
  readonly im2col?: Im2colBox;
  readonly im2colWide?: Im2colWideBox;
  /** Default: 1 in each dimension. */
  readonly elementStrides?: readonly number[];
  /** Default: "none". */
  readonly interleave?: TensorInterleave;
  /** Default: "none". */
  readonly swizzle?: TensorSwizzle;
  /** Default: "none"; without effect. */
  readonly l2Promotion?: TensorL2Promotion;
  /** Default: "none", which fills with zeros. */
  readonly oobFill?: TensorFill;
}

/** A tensor in global memory, and the boxes in which kernels copy it. */
export interface TensorMapOptions extends TensorShape {
  readonly globalAddress: Buffer | Pointer;
}

function boxOf({ boxDim, im2col, im2colWide }: TensorShape): TensorBox | string {
  if ([boxDim, im2col, im2colWide].filter((box) => box !== undefined).length !== 1) {
    return "exactly one of boxDim, im2col and im2colWide must be given";
  }
  if (boxDim !== undefined) return { mode: "tiled", size: boxDim };
  if (im2col !== undefined) {
    const { pixelBoxLowerCorner: lowerCorner, pixelBoxUpperCorner: upperCorner } = im2col;
    return {
      mode: "im2col",
      lowerCorner,
      upperCorner,
      channels: im2col.channelsPerPixel,
      pixels: im2col.pixelsPerColumn,
    };
  }
  const wide = im2colWide!;
  return {
    mode: "im2col::w",
    lowerCorner: [wide.pixelBoxLowerCornerWidth],
    upperCorner: [wide.pixelBoxUpperCornerWidth],
    channels: wide.channelsPerPixel,
    pixels: wide.pixelsPerColumn,
  };
}

/**
 * The 128 bytes of a tensor map whose address is `offset` bytes into a buffer, without the address of the buffer; or
 * why the driver would refuse it.
 */
export function tensorMapBytesOf(shape: TensorShape, offset: number): Uint8Array | string {
  const box = boxOf(shape);
  if (typeof box === "string") return box;
  if (offset < 0) return "its address is before its buffer";
  const map = {
    type: shape.dataType,
    globalAddress: BigInt(offset),
    globalDim: shape.globalDim,
    globalStrides: shape.globalStrides,
    box,
    elementStrides: shape.elementStrides ?? shape.globalDim.map(() => 1),
    interleave: shape.interleave ?? "none",
    swizzle: shape.swizzle ?? "none",
    l2Promotion: shape.l2Promotion ?? "none",
    oobFill: shape.oobFill ?? "none",
  } as const;
  // Buffers begin at multiples of 256, so that the offset has the alignment of the address.
  return tensorMapProblem(map) ?? encodeTensorMap(map);
}

/** The bytes of a tensor map for another address, or why the driver would refuse it. */
export function movedTensorMap(bytes: Uint8Array, globalAddress: bigint): Uint8Array | string {
  const map = decodeTensorMap(bytes);
  if (map === null) return "it is no tensor map";
  const moved = { ...map, globalAddress };
  return tensorMapProblem(moved) ?? encodeTensorMap(moved);
}

/**
 * Makes a tensor map for a kernel's parameter of 128 bytes.
 *
 * @throws UsageError if the driver would refuse it
 */
export function tensorMapArgument(options: TensorMapOptions): Struct {
  const { globalAddress: to } = options;
  const bytes = tensorMapBytesOf(options, to instanceof Buffer ? 0 : to.offset);
  if (typeof bytes === "string") throw new UsageError(`tensor map: ${bytes}`);
  return struct(bytes, [{ at: 0, to }]);
}
