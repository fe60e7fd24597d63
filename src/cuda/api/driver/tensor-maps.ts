import {
  maxTensorRank,
  tensorFills,
  tensorInterleaves,
  tensorL2Promotions,
  tensorMapAlign,
  tensorMapBytes,
  type TensorSwizzle,
  type TensorType,
} from "../../../ir/index.ts";
import { movedTensorMap, tensorMapBytesOf, type TensorShape } from "../../../runtime/data/tensor-map.ts";
import { errors, fail, require } from "../../base/errors.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { inContext } from "./driver-call.ts";

/** Element types by CUtensorMapDataType, whose order is not that of the instruction set. */
const types: readonly TensorType[] = [
  ...(["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"] as const),
  ...(["16u4_align8b", "16u4_align16b", "16u6_align16b"] as const),
];

/** By CUtensorMapSwizzle. */
const swizzles: readonly TensorSwizzle[] = [
  ...(["none", "32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"] as const),
];

const chosen = <T>(names: readonly T[], number: number): T => names[number] ?? fail(errors.invalidValue);

const numbers32 = (call: Call, i: number, count: number): number[] => {
  const view = call.host.view(call.target(i), 4 * count);
  return Array.from({ length: count }, (_, n) => view.getInt32(4 * n, true));
};

const numbers64 = (call: Call, i: number, count: number): number[] =>
  count === 0 ? [] : call.host.words(call.target(i), count).map(Number);

/** The place of a tensor map in the program's memory. */
function mapAt(call: Call): bigint {
  const target = call.target(0);
  require(target % BigInt(tensorMapAlign) === 0n);
  return target;
}

function give(call: Call, target: bigint, bytes: Uint8Array | string): Status {
  if (typeof bytes === "string") return errors.invalidValue;
  call.poke(target, bytes);
  return 0;
}

/** The number of an argument from which on the layout is given: interleave, swizzle, promotion, fill; and of a mode. */
interface Places {
  readonly elementStrides: number;
  readonly interleave: number;
  readonly swizzle: number;
}

/** Map, type, rank, address, sizes, strides, and then what says how a box is made. */
function encode(call: Call, places: Places, box: (rank: number) => Partial<TensorShape>): Status {
  const target = mapAt(call);
  const rank = call.uint(2);
  require(rank >= 1 && rank <= maxTensorRank);
  const { swizzle } = places;
  const shape: TensorShape = {
    dataType: chosen(types, call.int(1)),
    globalDim: numbers64(call, 4, rank),
    globalStrides: numbers64(call, 5, rank - 1),
    ...box(rank),
    elementStrides: numbers32(call, places.elementStrides, rank),
    interleave: chosen(tensorInterleaves, call.int(places.interleave)),
    swizzle: chosen(swizzles, call.int(swizzle)),
    l2Promotion: chosen(tensorL2Promotions, call.int(swizzle + 1)),
    oobFill: chosen(tensorFills, call.int(swizzle + 2)),
  };
  return give(call, target, tensorMapBytesOf(shape, Number(call.target(3))));
}

/** ..., size of the box, strides of elements, interleave, swizzle, promotion, fill */
const encodeTiled = (call: Call): Status =>
  encode(call, { elementStrides: 7, interleave: 8, swizzle: 9 }, (rank) => ({ boxDim: numbers32(call, 6, rank) }));

/** ..., lower corner, upper corner, channels, pixels, strides of elements, interleave, swizzle, promotion, fill */
const encodeIm2col = (call: Call): Status =>
  encode(call, { elementStrides: 10, interleave: 11, swizzle: 12 }, (rank) => {
    require(rank >= 3);
    return {
      im2col: {
        pixelBoxLowerCorner: numbers32(call, 6, rank - 2),
        pixelBoxUpperCorner: numbers32(call, 7, rank - 2),
        channelsPerPixel: call.uint(8),
        pixelsPerColumn: call.uint(9),
      },
    };
  });

/** The same with corners in one dimension, and after the interleave the mode: W, or W in boxes of 128 pixels. */
const encodeIm2colWide = (call: Call): Status =>
  encode(call, { elementStrides: 10, interleave: 11, swizzle: 13 }, () => {
    // The instruction, not the map, tells whether it copies `.im2col::w` or `.im2col::w::128`.
    require(call.uint(12) <= 1);
    return {
      im2colWide: {
        pixelBoxLowerCornerWidth: call.int(6),
        pixelBoxUpperCornerWidth: call.int(7),
        channelsPerPixel: call.uint(8),
        pixelsPerColumn: call.uint(9),
      },
    };
  });

/** map, address */
const replaceAddress = (call: Call): Status => {
  const target = mapAt(call);
  return give(call, target, movedTensorMap(call.host.read(target, tensorMapBytes), call.target(1)));
};

/** Tensor maps, which are made by the driver and passed to kernels by value. */
export const tensorMapCalls: Handlers = {
  cuTensorMapEncodeTiled: inContext(encodeTiled),
  cuTensorMapEncodeIm2col: inContext(encodeIm2col),
  cuTensorMapEncodeIm2colWide: inContext(encodeIm2colWide),
  cuTensorMapReplaceAddress: inContext(replaceAddress),
};
