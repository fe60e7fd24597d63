import { tensorFills, tensorInterleaves, tensorL2Promotions, tensorSwizzles, tensorTypes } from "../../ir/index.ts";
import { list, object, type Schema, text } from "./schema-parts.ts";

const number: Schema = { type: "integer" };
const numbers = (description: string): Schema => list(number, description);
const pixels = { channelsPerPixel: number, pixelsPerColumn: number };

/** A tensor map, as cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide take it. */
export const tensorMapSchema: Schema = object(
  {
    dataType: { enum: tensorTypes, description: "The type of the tensor's elements." },
    globalAddress: object(
      { buf: text("The name of the buffer in which the tensor is.") },
      { offset: { type: "integer", description: "In bytes: a multiple of 16; default 0." } },
    ),
    globalDim: numbers("The size of the tensor in elements, the fastest dimension first: 1 to 5 numbers."),
  },
  {
    rank: { type: "integer", description: "The number of dimensions, if it is to be checked." },
    globalStrides: numbers("Bytes between neighbours, of all dimensions but the first: multiples of 16."),
    boxDim: numbers("Tiled: the size of a box in elements."),
    im2col: object(
      {
        pixelBoxLowerCorner: numbers("rank - 2 numbers, the fastest first."),
        pixelBoxUpperCorner: numbers("rank - 2 numbers, the fastest first."),
        ...pixels,
      },
      {},
    ),
    im2colWide: object({ pixelBoxLowerCornerWidth: number, pixelBoxUpperCornerWidth: number, ...pixels }, {}),
    elementStrides: numbers("Default: 1 in each dimension."),
    interleave: { enum: tensorInterleaves, description: "Default: none." },
    swizzle: { enum: Object.keys(tensorSwizzles), description: "Default: none." },
    l2Promotion: { enum: tensorL2Promotions, description: "Default: none; without effect." },
    oobFill: { enum: tensorFills, description: "What elements outside become: 0 (none) or NaN (nan)." },
  },
);
