import { describe, expect, test } from "vitest";
import { tensorMapProblem } from "../../../src/program/tensor/map-problem.ts";
import { decodeTensorMap, encodeTensorMap, type TensorMap } from "../../../src/program/tensor/tensor-map.ts";
import { plainMap } from "./maps.ts";

const im2col: TensorMap = {
  ...plainMap,
  type: "s32",
  globalDim: [8, 6, 5, 2],
  globalStrides: [32, 192, 960],
  box: { mode: "im2col", lowerCorner: [-1, -2], upperCorner: [-1, 0], channels: 8, pixels: 32 },
  elementStrides: [1, 2, 1, 1],
};

describe("the 128 bytes of a tensor map", () => {
  const maps: TensorMap[] = [
    plainMap,
    im2col,
    { ...im2col, box: { mode: "im2col::w", lowerCorner: [-1], upperCorner: [2], channels: 8, pixels: 1024 } },
    { ...plainMap, type: "bf16", swizzle: "128B_atom_64B", oobFill: "nan", l2Promotion: "256B" },
    { ...plainMap, globalDim: [2 ** 32, 8], globalStrides: [2 ** 39], globalAddress: 0x7fff_0000_0010n },
    { ...plainMap, globalDim: [64], globalStrides: [], box: { mode: "tiled", size: [64] }, elementStrides: [1] },
  ];
  test.each(maps)("say the same when they are read (%#)", (map) => {
    const bytes = encodeTensorMap(map);
    expect(bytes).toHaveLength(128);
    expect(decodeTensorMap(bytes)).toEqual(map);
  });

  test.each([0x5a, 0xff, 0x80])("are none if every byte is %s", (value) => {
    expect(decodeTensorMap(new Uint8Array(128).fill(value))).toBeNull();
  });

  test("are refused if they are 0: no box has size 0", () => {
    expect(tensorMapProblem(decodeTensorMap(new Uint8Array(128))!)).toContain("boxDim[0] is 0");
  });
});

/** What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col refuse, from their documentation. */
const refused: readonly (readonly [Partial<TensorMap>, string])[] = [
  [{ globalAddress: 0x1008n }, "globalAddress is 0x1008, not a multiple of 16"],
  [{ globalStrides: [72] }, "globalStrides[0] is 72, not a multiple of 16"],
  [{ globalStrides: [2 ** 40] }, "globalStrides[0]"],
  [{ globalDim: [0, 8] }, "globalDim[0] is 0"],
  [{ globalDim: [64, 2 ** 32 + 1] }, "globalDim[1]"],
  [{ globalStrides: [] }, "globalStrides has 0 numbers, not 1"],
  [{ box: { mode: "tiled", size: [8, 4] } }, "boxDim[0] is 8, which are 8 bytes, not a multiple of 16"],
  [{ box: { mode: "tiled", size: [16, 257] } }, "boxDim[1] is 257"],
  [{ box: { mode: "tiled", size: [64, 4] }, swizzle: "32B" }, "more than the 32 of the swizzle"],
  [{ box: { mode: "tiled", size: [128, 4] }, swizzle: "64B" }, "more than the 64 of the swizzle"],
  [{ box: { mode: "tiled", size: [256, 4] }, swizzle: "128B" }, "more than the 128 of the swizzle"],
  [{ elementStrides: [1, 9] }, "elementStrides[1] is 9"],
  [{ elementStrides: [1, 0] }, "elementStrides[1] is 0"],
  [{ oobFill: "nan" }, "not floats"],
  [{ interleave: "16B" }, "a rank of 2 is not from 3 to 5 with interleave 16B"],
  [{ type: "16u4_align8b", globalDim: [63, 8] }, "not a multiple of 2"],
  [{ type: "16u6_align16b", globalDim: [64, 8] }, "not a multiple of 128"],
  [{ type: "16u6_align16b", globalDim: [128, 8], globalStrides: [96] }, "must be 128"],
  [{ type: "16u4_align16b", globalDim: [128, 8], globalStrides: [80] }, "not a multiple of 32"],
  [
    {
      type: "16u6_align16b",
      globalDim: [128, 8],
      globalStrides: [96],
      box: { mode: "tiled", size: [128, 2] },
      swizzle: "128B_atom_32B_flip_8B",
    },
    "does not take elements",
  ],
];
const refusedIm2col: readonly (readonly [Partial<TensorMap>, string])[] = [
  [{ globalDim: [8, 6], globalStrides: [32], elementStrides: [1, 1] }, "a rank of 2 is not from 3 to 5 for im2col"],
  [{ box: { ...im2col.box, pixels: 1025 } as TensorMap["box"] }, "pixelsPerColumn is 1025"],
  [{ box: { ...im2col.box, channels: 257 } as TensorMap["box"] }, "channelsPerPixel is 257"],
  [{ box: { ...im2col.box, lowerCorner: [-129, 0] } as TensorMap["box"] }, "pixelBoxLowerCorner[0] is -129"],
  [{ box: { ...im2col.box, upperCorner: [-8, 0] } as TensorMap["box"] }, "the pixel box is empty"],
];

test.each(refused)("%o is refused", (change, message) => {
  expect(tensorMapProblem({ ...plainMap, ...change })).toContain(message);
});

test.each(refusedIm2col)("im2col: %o is refused", (change, message) => {
  expect(tensorMapProblem({ ...im2col, ...change })).toContain(message);
});

test.each([plainMap, im2col])("a map that the driver takes has no problem (%#)", (map) => {
  expect(tensorMapProblem(map)).toBeNull();
});

test("the stride of dimension 0 is ignored", () => {
  expect(tensorMapProblem({ ...plainMap, elementStrides: [0, 1] })).toBeNull();
});
