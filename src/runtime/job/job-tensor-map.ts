import {
  tensorFills,
  tensorInterleaves,
  tensorL2Promotions,
  tensorMapBytes,
  type TensorSwizzle,
  tensorSwizzles,
  tensorTypes,
} from "../../ir/index.ts";
import { type Im2colBox, type Im2colWideBox, tensorMapBytesOf, type TensorShape } from "../data/tensor-map.ts";
import { readName } from "./job-name.ts";
import type { JsonField } from "./json-fields.ts";
import type { PointerPatch } from "./pointer-patch.ts";

/** The bytes of a tensor map, and where its address is put. */
export interface TensorMapSpec {
  readonly bytes: Uint8Array;
  readonly pointers: readonly PointerPatch[];
}

const swizzles = Object.keys(tensorSwizzles) as TensorSwizzle[];

const known = [
  ...["dataType", "rank", "globalAddress", "globalDim", "globalStrides", "boxDim", "im2col", "im2colWide"],
  ...["elementStrides", "interleave", "swizzle", "l2Promotion", "oobFill"],
];

const numbers = (field: JsonField): number[] => field.items().map((item) => Number(item.integer()));

const optional = <T>(field: JsonField, read: (field: JsonField) => T): T | undefined =>
  field.present ? read(field) : undefined;

function readIm2col(field: JsonField): Im2colBox {
  field.object(["pixelBoxLowerCorner", "pixelBoxUpperCorner", "channelsPerPixel", "pixelsPerColumn"]);
  const get = (name: keyof Im2colBox): JsonField => field.get(name);
  return {
    pixelBoxLowerCorner: numbers(get("pixelBoxLowerCorner")),
    pixelBoxUpperCorner: numbers(get("pixelBoxUpperCorner")),
    channelsPerPixel: Number(get("channelsPerPixel").integer()),
    pixelsPerColumn: Number(get("pixelsPerColumn").integer()),
  };
}

function readIm2colWide(field: JsonField): Im2colWideBox {
  field.object(["pixelBoxLowerCornerWidth", "pixelBoxUpperCornerWidth", "channelsPerPixel", "pixelsPerColumn"]);
  const get = (name: keyof Im2colWideBox): number => Number(field.get(name).integer());
  return {
    pixelBoxLowerCornerWidth: get("pixelBoxLowerCornerWidth"),
    pixelBoxUpperCornerWidth: get("pixelBoxUpperCornerWidth"),
    channelsPerPixel: get("channelsPerPixel"),
    pixelsPerColumn: get("pixelsPerColumn"),
  };
}

/** Reads a tensor map, as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take it; reports one that they refuse. */
export function readTensorMap(field: JsonField, buffers: ReadonlyMap<string, unknown>): TensorMapSpec {
  field.object(known);
  const address = field.get("globalAddress").object(["buf", "offset"]);
  const buffer = readName(address.get("buf"), "buffer", buffers);
  const offset = optional(address.get("offset"), (at) => Number(at.integer())) ?? 0;
  const globalDim = numbers(field.get("globalDim"));
  const boxDim = optional(field.get("boxDim"), numbers);
  const im2col = optional(field.get("im2col"), readIm2col);
  const im2colWide = optional(field.get("im2colWide"), readIm2colWide);
  const elementStrides = optional(field.get("elementStrides"), numbers);
  const shape: TensorShape = {
    dataType: field.get("dataType").oneOf(tensorTypes),
    globalDim,
    globalStrides: optional(field.get("globalStrides"), numbers) ?? [],
    ...(boxDim && { boxDim }),
    ...(im2col && { im2col }),
    ...(im2colWide && { im2colWide }),
    ...(elementStrides && { elementStrides }),
    interleave: optional(field.get("interleave"), (f) => f.oneOf(tensorInterleaves)) ?? "none",
    swizzle: optional(field.get("swizzle"), (f) => f.oneOf(swizzles)) ?? "none",
    l2Promotion: optional(field.get("l2Promotion"), (f) => f.oneOf(tensorL2Promotions)) ?? "none",
    oobFill: optional(field.get("oobFill"), (f) => f.oneOf(tensorFills)) ?? "none",
  };
  const rank = field.get("rank");
  if (rank.present && Number(rank.integer()) !== globalDim.length) {
    rank.fail(`is no rank of a tensor with ${globalDim.length} dimensions`);
  }
  const bytes = tensorMapBytesOf(shape, offset);
  if (typeof bytes !== "string") return { bytes, pointers: [{ at: 0, buffer, offset }] };
  field.fail(`is no tensor map that the driver would encode: ${bytes}`, "lanewise explain tensormap-invalid");
  return { bytes: new Uint8Array(tensorMapBytes), pointers: [] };
}
