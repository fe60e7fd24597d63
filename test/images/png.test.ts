import { crc32, deflateSync, inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readPng, writePng } from "../../src/cli/terminal/png.ts";
import { Elements } from "../../src/runtime/data/element.ts";
import { pictureOf, picturePixels } from "../../src/runtime/data/picture.ts";

/*
 * Files put together here from the PNG specification (W3C, third edition), with Node's zlib: what they hold is known
 * without the library that reads them.
 */
const u32 = (n: number): number[] => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];

function chunk(type: string, data: readonly number[] | Uint8Array): number[] {
  const bytes = [...Buffer.from(type, "latin1"), ...data];
  return [...u32(data.length), ...bytes, ...u32(crc32(Buffer.from(bytes)))];
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** 0 gray, 2 colors, 3 a palette, 4 gray and opacity, 6 colors and opacity. */
  readonly color: number;
  readonly interlaced?: boolean;
}

const png = (
  { width, height, depth, color, interlaced = false }: Header,
  rows: readonly (readonly number[])[],
  more: number[] = [],
): Uint8Array =>
  Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...chunk("IHDR", [...u32(width), ...u32(height), depth, color, 0, 0, interlaced ? 1 : 0]),
    ...more,
    ...chunk("IDAT", deflateSync(Uint8Array.from(rows.flat()))),
    ...chunk("IEND", []),
  ]);

const palette = [255, 0, 0, 0, 255, 0, 0, 0, 255];
const files: readonly (readonly [what: string, file: Uint8Array, picture: object])[] = [
  [
    "bits, black and white",
    png({ width: 10, height: 2, depth: 1, color: 0 }, [
      [0, 0b1010_0000, 0b0100_0000],
      [0, 0b0000_0001, 0b1000_0000],
    ]),
    { channels: 1, bits: 8, values: [255, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0] },
  ],
  [
    "four bits of gray",
    png({ width: 3, height: 1, depth: 4, color: 0 }, [[0, 0x0f, 0x80]]),
    { channels: 1, bits: 8, values: [0, 255, 136] },
  ],
  [
    // Filter 1: each byte is a distance to that of the pixel on the left.
    "colors, filtered",
    png({ width: 3, height: 1, depth: 8, color: 2 }, [[1, 10, 20, 30, 1, 2, 3, 255, 255, 255]]),
    { channels: 3, bits: 8, values: [10, 20, 30, 11, 22, 33, 10, 21, 32] },
  ],
  [
    "16 bits",
    png({ width: 2, height: 1, depth: 16, color: 4 }, [[0, 0x12, 0x34, 0xff, 0xff, 0, 1, 0x80, 0]]),
    { channels: 2, bits: 16, values: [0x1234, 0xffff, 1, 0x8000] },
  ],
  [
    "a palette of two bits",
    png({ width: 3, height: 1, depth: 2, color: 3 }, [[0, 0b1000_0100]], chunk("PLTE", palette)),
    { channels: 3, bits: 8, values: [0, 0, 255, 255, 0, 0, 0, 255, 0] },
  ],
  [
    "a palette with opacity",
    png({ width: 2, height: 1, depth: 8, color: 3 }, [[0, 1, 0]], [...chunk("PLTE", palette), ...chunk("tRNS", [7])]),
    { channels: 4, bits: 8, values: [0, 255, 0, 255, 255, 0, 0, 7] },
  ],
  [
    // Of 2 by 2 pixels pass 1 has the first, pass 6 the one on its right, pass 7 the row below.
    "interlaced",
    png({ width: 2, height: 2, depth: 8, color: 0, interlaced: true }, [
      [0, 1],
      [0, 2],
      [0, 3, 4],
    ]),
    { channels: 1, bits: 8, values: [1, 2, 3, 4] },
  ],
];

test.each(files)("%s", (_, file, picture) => {
  const { values, ...rest } = readPng(file);
  expect({ ...rest, values: [...values] }).toMatchObject(picture);
});

describe("damage", () => {
  const whole = [...png({ width: 2, height: 1, depth: 8, color: 0 }, [[0, 1, 2]])];
  test.each([
    ["a checksum", whole.map((byte, i) => (i === 45 ? byte ^ 1 : byte))],
    ["an end that is missing", whole.slice(0, 44)],
    ["a header that is missing", whole.slice(0, 20)],
    ["a size that nobody can hold", whole.map((byte, i) => (i === 16 || i === 20 ? 0x7f : byte))],
    ["a kind that there is not", whole.map((byte, i) => (i === 25 ? 5 : byte))],
  ])("%s", (_, bytes) => {
    expect(() => readPng(Uint8Array.from(bytes))).toThrow(/^the PNG file /);
  });
});

test("what is written is what the format says, row by row after a byte for the filter", () => {
  const values = Uint8Array.from([1, 2, 3, 4, 5, 6]);
  const file = Buffer.from(writePng({ width: 1, height: 2, channels: 3, bits: 8, values }));
  expect([file.readUInt32BE(16), file.readUInt32BE(20), ...file.subarray(24, 26)]).toEqual([1, 2, 8, 2]);
  const at = file.indexOf("IDAT");
  const data = file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4));
  expect([...inflateSync(data)]).toEqual([0, 1, 2, 3, 0, 4, 5, 6]);
});

describe("pixels as elements", () => {
  const gray = { width: 2, height: 1, channels: 1, bits: 8, values: Uint8Array.from([0, 51]) } as const;
  const colors = { width: 1, height: 1, channels: 3, bits: 16, values: Uint16Array.from([0, 0x8000, 0xffff]) } as const;
  const of = (type: "u8" | "u16" | "f32", bytes: Uint8Array): number[] => {
    const elements = new Elements(type, bytes);
    return Array.from({ length: elements.length }, (_, i) => Number(elements.get(i)));
  };
  test("gray as such, as colors, and as floats", () => {
    expect(of("u8", picturePixels(gray, "u8", 2))).toEqual([0, 51]);
    expect(of("u8", picturePixels(gray, "u8", 8))).toEqual([0, 0, 0, 255, 51, 51, 51, 255]);
    expect(of("f32", picturePixels(gray, "f32", 2))).toEqual([0, Math.fround(0.2)]);
    expect(of("u16", picturePixels(gray, "u16", 2))).toEqual([0, 0x3333]);
  });
  test("16 bits, rounded to 8", () => {
    // 0x8000 / 0xffff of 255 is 127.501...
    expect(of("u8", picturePixels(colors, "u8", 4))).toEqual([0, 128, 255, 255]);
  });
  test("what does not fit", () => {
    expect(() => picturePixels(colors, "u8", 1)).toThrow(/a picture with colors does not fit 1 channel/);
    expect(() => picturePixels(gray, "s8" as "u8", 2)).toThrow(/u8, u16, or f16 and f32 from 0 to 1, not s8/);
    expect(() => picturePixels(gray, "u8", 5)).toThrow(/2 by 1 pixels of 1 channels does not fill 5 elements/);
  });
  test("floats as pixels: from 0 to 1, rounded", () => {
    const elements = Elements.zeros("f32", 5);
    for (const [i, value] of [-1, 0.5, 2, NaN, 0.2].entries()) elements.set(i, value);
    expect([...pictureOf(elements, 5, 1).values]).toEqual([0, 128, 255, 0, 51]);
  });
});
