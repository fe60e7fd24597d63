import { describe, expect, test } from "vitest";
import { parseArgument } from "../../src/cli/options/argument-syntax.ts";
import { decodeTensorMap } from "../../src/program/tensor/tensor-map.ts";

const parse = (text: string) => {
  const argument = parseArgument(text, () => new Uint8Array());
  if (argument.kind !== "tensor") throw new Error(`${argument.kind} is no tensor`);
  return { ...argument.spec, map: decodeTensorMap(argument.spec.bytes) };
};

test("a tensor with a buffer of its own", () => {
  const { of, map, offset } = parse("tensor:f16[8192]=iota,dim=128x64,box=64x32,swizzle=128B,oob=nan");
  expect(of).toMatchObject({ type: "f16", n: 8192, init: { gen: "iota" } });
  expect(offset).toBe(0);
  // Two bytes for each of 128 elements: a dense tensor's rows are 256 bytes apart.
  expect(map).toMatchObject({
    ...{ type: "f16", globalDim: [128, 64], globalStrides: [256], elementStrides: [1, 1] },
    ...{ box: { mode: "tiled", size: [64, 32] }, swizzle: "128B", interleave: "none", oobFill: "nan" },
  });
});

test("a tensor in the buffer of another argument, with a type, strides and steps", () => {
  const { of, map, offset } = parse("tensor:2,type=tf32,dim=8x4x2,strides=64x512,box=4x2x1,steps=1x2x1,offset=32");
  expect({ of, offset }).toEqual({ of: 2, offset: 32 });
  expect(map).toMatchObject({ type: "tf32", globalStrides: [64, 512], elementStrides: [1, 2, 1] });
});

test("a list of values does not end at its commas", () => {
  expect(parse("tensor:f32=1,2,3,4,dim=4,box=4").of).toMatchObject({
    n: 4,
    init: { gen: "list", values: [1, 2, 3, 4] },
  });
});

test("im2col has a pixel box", () => {
  const { map } = parse("tensor:u8[4096],dim=16x8x8x2,lower=-1x-1,upper=-1x-1,channels=16,pixels=8");
  expect(map?.box).toEqual({ mode: "im2col", lowerCorner: [-1, -1], upperCorner: [-1, -1], channels: 16, pixels: 8 });
});

describe("errors", () => {
  test.each([
    ["tensor:f16[64],dim=8x8", /the box is missing: as in tensor:/],
    ["tensor:f16[64],box=8x8", /the dimensions of the tensor are missing/],
    ["tensor:f16[64],dims=8x8,box=8x8", /a tensor map has no dims; did you mean dim\?/],
    ["tensor:f16[64],dim=8x8,dim=8x8,box=8x8", /dim is given twice/],
    ["tensor:f16[64],dim=8y8,box=8x8", /dim=8y8: expected numbers as in 128x64/],
    ["tensor:f16[64],dim=8x8,box=8x8,swizzle=48B", /swizzle=48B: expected one of none, 32B, 64B/],
    ["tensor:s16[64],dim=8x8,box=8x8", /no tensor has elements of s16: say type=/],
    ["tensor:1,dim=8x8,box=8x8", /the type of the elements is missing/],
    ["tensor:x,dim=8x8,box=8x8", /"x" is neither a buffer nor the number of an argument/],
    ["tensor:f16[64],dim=8x8,box=4x8", /driver would encode: box\[0\] is 4, which are 8 bytes, not a multiple of 16/],
    ["tensor:f16[64],dim=9x7,box=8x8", /driver would encode: strides\[0\] is 18, not a multiple of 16/],
    ["tensor:f16[64],dim=8x8,box=8x8,lower=0x0", /either a box, or lower, upper, channels and pixels/],
    ["tensor:f16[64],dim=8x8x8,lower=0", /upper is missing: im2col needs lower, upper, channels, pixels/],
  ])("%s", (text, message) => {
    expect(() => parse(text)).toThrow(message);
    expect(() => parse(text)).toThrow(`--arg ${text}: `);
  });
});
