import { describe, expect, test } from "vitest";
import { parseArgument } from "../../src/cli/options/argument-syntax.ts";
import { writePng } from "../../src/cli/terminal/png.ts";
import { writeNumpy } from "../../src/runtime/data/npy.ts";

/** Files by name: a picture of 6 by 4 pixels of each kind, and arrays named by their shapes. */
const read = (path: string): Uint8Array => {
  const [, kind, rest = ""] = /^(\w+?)-?([\dx]*)\.\w+$/.exec(path)!;
  const channels = { gray: 1, veil: 2, rgb: 3, rgba: 4 }[kind!];
  if (channels !== undefined) {
    const values = new Uint8Array(24 * channels);
    return writePng({ width: 6, height: 4, channels: channels as 1 | 2 | 3 | 4, bits: 8, values });
  }
  if (kind !== "f32" && kind !== "f64") return new Uint8Array(64);
  const shape = rest.split("x").map(Number);
  const bytes = new Uint8Array(shape.reduce((product, n) => product * n, 1) * (kind === "f32" ? 4 : 8));
  return writeNumpy({ type: kind, shape, bytes });
};

const parse = (text: string) => {
  const argument = parseArgument(text, read);
  if (argument.kind !== "image") throw new Error(`${argument.kind} is no image`);
  return argument.spec;
};

describe("where texels are, and the image that they make", () => {
  test.each([
    ["texture:f32[8]", { type: "f32", channels: 1, width: 8 }, "f32", 8],
    ["texture:u8x4[8x2]=iota", { type: "u8", channels: 4, width: 8, height: 2 }, "u8", 64],
    ["image:unorm8x4[8x2]", { type: "unorm8", channels: 4, width: 8, height: 2 }, "u8", 64],
    ["surface:f16x2[4x4x4]", { type: "f16", channels: 2, width: 4, height: 4, depth: 4 }, "f16", 128],
    ["texture:f32[4x4],layers=3", { width: 4, height: 4, layers: 3 }, "f32", 48],
    ["texture:f32[4x4],cube", { width: 4, height: 4, cube: true }, "f32", 96],
    // 4 x 4, 2 x 2 and 1 x 1 texels.
    ["texture:f32[4x4],levels=3", { width: 4, height: 4, levels: 3 }, "f32", 21],
    // Three rows of 32 bytes, and the last one of 16.
    ["texture:f32[4x4],pitch=32", { layout: "pitch", pitch: 32 }, "f32", 28],
    ["texture:f32[2]=nan,inf,filter=linear", { width: 2 }, "f32", 2],
    ["texture:@rgb.png", { type: "u8", channels: 4, width: 6, height: 4 }, "u8", 96],
    ["texture:@gray.png", { type: "u8", channels: 1, width: 6, height: 4 }, "u8", 24],
    ["texture:@veil.png,type=f32x4", { type: "f32", channels: 4, width: 6, height: 4 }, "f32", 96],
    ["texture:@rgba.png,layers=2", { width: 6, height: 2, layers: 2 }, "u8", 96],
    ["texture:@f32-5.npy", { type: "f32", channels: 1, width: 5 }, "f32", 5],
    ["texture:@f32-3x5.npy", { width: 5, height: 3, channels: 1 }, "f32", 15],
    ["texture:@f32-3x5x4.npy", { width: 5, height: 3, channels: 4 }, "f32", 60],
    ["texture:@f32-3x5x7.npy", { width: 7, height: 5, depth: 3, channels: 1 }, "f32", 105],
    ["texture:@f32-3x5x4.npy,type=f32", { width: 4, height: 5, depth: 3, channels: 1 }, "f32", 60],
    ["texture:@f32-2x3x5x4.npy,layers=2", { width: 5, height: 3, layers: 2, channels: 4 }, "f32", 120],
    ["texture:@f64-3x5.npy,type=f32", { type: "f32", width: 5, height: 3 }, "f32", 15],
    ["texture:@f32-21.npy,size=4x4,levels=3", { width: 4, height: 4, levels: 3 }, "f32", 21],
  ])("%s", (text, image, type, n) => {
    const { image: found, of } = parse(text);
    expect(found).toMatchObject(image);
    expect(of).toMatchObject({ type, n });
  });
});

test("the image of another argument, and its buffer", () => {
  expect(parse("surface:2")).toMatchObject({ as: "surface", of: 2, image: null });
  expect(parse("texture:0,type=u8x4,size=8x8,offset=256")).toMatchObject({
    ...{ as: "texture", of: 0, offset: 256, image: { type: "u8", channels: 4, width: 8, height: 8 } },
  });
});

test("all fields of a texture", () => {
  const fields = "filter=linear,address=wrap/mirror,normalized,fractions,border=0/0.5/1,mip=linear,bias=-0.5";
  const { texture } = parse(`texture:u8[8x8],${fields},lod=0/inf,anisotropy=4,compare=ge,seams`);
  expect(texture).toEqual({
    ...{ filter: "linear", address: ["wrap", "mirror"], normalized: true, normalizedFloat: true },
    ...{ border: [0, 0.5, 1], mipFilter: "linear", lodBias: -0.5, minLod: 0, maxLod: Infinity },
    ...{ maxAnisotropy: 4, compare: "ge", seamless: false },
  });
});

test("a sampler", () => {
  expect(parseArgument("sampler:", read)).toEqual({ kind: "sampler", spec: {} });
  expect(parseArgument("sampler:address=border,normalized", read)).toEqual({
    ...{ kind: "sampler", spec: { address: "border", normalized: true } },
  });
});

describe("errors", () => {
  test.each([
    ["texture:photo.png", /"photo.png" is neither a file, the number of an argument, nor texels with their size/],
    ["texture:u8x5[4x4]", /is neither a file/],
    ["texture:u8x4[4y4]", /expected a size in texels/],
    ["texture:u8x4[4x4],filtr=linear", /a texture has no filtr; did you mean filter\?/],
    ["texture:u8x4[4x4],normalised", /a texture has no normalised; did you mean normalized\?/],
    ["surface:u8x4[4x4],filter=linear", /a surface has no filter/],
    ["sampler:fractions", /a sampler has no fractions/],
    ["texture:f32[4x4],filter=cubic", /filter=cubic: expected one of point, linear/],
    ["texture:f32[4x4],address=wrap/tile", /address=tile: expected one of wrap, clamp, mirror, border/],
    ["texture:f32[4x4],filter=linear,filter=point", /filter is given twice/],
    ["texture:f32[4x4],cube=yes", /cube has no value/],
    ["texture:f32[4x4],levels=", /levels needs a value/],
    ["texture:f32[4x4],lod=1", /lod=1: expected lod=0\/1/],
    ["texture:f32[4x4],levels=4", /no image: it has 4 levels, but at most 3/],
    ["texture:f32[4x2],cube", /no image: the faces of a cube are squares/],
    ["texture:f32[5x4],pitch=20", /no image: its pitch of 20 bytes is not a multiple of 32/],
    ["texture:f32[16]=1,2", /2 values for 16 elements/],
    ["texture:u8[4x4],filter=linear", /no texture: linear filtering needs floats.*`fractions` reads integers so/],
    ["texture:0,type=u8x4", /type and size are missing/],
    ["texture:f32[4x4],type=u8", /type and size are for files/],
    ["texture:@other.bin", /other.bin is neither a PNG file nor an .npy file/],
    ["texture:@rgb.png,size=3x8", /the size of an image from a PNG file is that of the picture/],
    ["texture:@rgb.png,layers=3", /the 4 rows of the picture are not 3 images/],
    ["texture:@f64-3x5.npy", /no texels have channels of f64: say type=f32/],
    ["texture:@f32-2x2x2x2x2.npy", /an array of 5 dimensions is no image/],
    ["texture:@f32-8.npy,size=4x4", /the image has 16 elements, and the file 8/],
  ])("%s", (text, message) => {
    expect(() => parseArgument(text, read)).toThrow(message);
    expect(() => parseArgument(text, read)).toThrow(`--arg ${text}: `);
  });
});
