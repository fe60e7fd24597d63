import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Device } from "../../src/runtime/index.ts";
import { type EngineName, usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { type ImageProgram, runOnImage } from "./visa-program.ts";

/*
 * Blocks of matrices and images, which a subgroup reads together: the kernels of visa/blocks, as ocloc compiles them.
 * Expected values follow from the extensions cl_intel_subgroups and cl_intel_subgroup_2d_block_io, the rest from the
 * pseudo code of LSC_UNTYPED.
 */
const folder = new URL("visa/blocks/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const iota = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

function load(platform: string, name: string, engine: EngineName) {
  const device = new Device({ engine });
  const zeinfo: unknown = parse(read(`${platform}/ze_info.yaml`));
  const path = `${name}.visaasm`;
  const module = device.load([{ path, text: read(`${platform}/${path}`) }], { isa: "visa", zeinfo, target: platform });
  return { device, kernel: module.kernel(name) };
}

const global = [16, 1, 1] as const;
/** A matrix of 40 columns and 20 rows, 48 elements from a row to the next. */
const [columns, rows, pitch] = [40, 20, 48];
const element = (x: number, y: number): number => (x < 0 || y < 0 || x >= columns || y >= rows ? 0 : 1 + x + 100 * y);
const matrix = iota(pitch * rows).map((i) => (i % pitch < columns ? element(i % pitch, Math.floor(i / pitch)) : 9999));

describe.each(usualEngines)("%s", (engine) => {
  describe.each([
    [0, 0],
    [8, 4],
    [24, 14],
    [-16, -3],
  ])("at column %s and row %s", (x, y) => {
    test("two blocks of 8 rows and 16 columns of 16 bits", () => {
      const { device, kernel } = load("pvc", "pair", engine);
      const out = device.buffer("u16", 256);
      const args = [device.buffer("u16", matrix.length).write(matrix), out, 2 * columns, rows, 2 * pitch, x, y];
      const { reports } = kernel.launch({ global, local: global, args, sanitize: ["init"] });
      expect(reports).toEqual([]);
      const expected = iota(256).map((i) => {
        const [register, lane] = [Math.floor(i / 16), i % 16];
        return element(x + lane + 16 * Math.floor(register / 8), y + (register % 8));
      });
      expect([...out.read()]).toEqual(expected);
    });

    test("pairs of rows, packed", () => {
      const { device, kernel } = load("pvc", "packed", engine);
      const out = device.buffer("u32", 128);
      const args = [device.buffer("u16", matrix.length).write(matrix), out, 2 * columns, rows, 2 * pitch, x, y];
      kernel.launch({ global, local: global, args });
      const at = (lane: number, row: number): number => element(x + lane, y + row);
      const expected = iota(128).map((i) => {
        const [register, lane] = [Math.floor(i / 16), i % 16];
        return at(lane, 2 * register) + 65_536 * at(lane, 2 * register + 1);
      });
      expect([...out.read()]).toEqual(expected);
    });

    test("transposed: a lane has a row", () => {
      const { device, kernel } = load("pvc", "turned", engine);
      const out = device.buffer("u32", 128);
      const args = [device.buffer("u32", matrix.length).write(matrix), out, 4 * columns, rows, 4 * pitch, x, y];
      kernel.launch({ global, local: global, args });
      const expected = iota(128).map((i) => element(x + Math.floor(i / 16), y + (i % 16)));
      expect([...out.read()]).toEqual(expected);
    });
  });

  test("a matrix that is not in its buffer", () => {
    const { device, kernel } = load("pvc", "pair", engine);
    const args = [device.buffer("u16", 100), device.buffer("u16", 256), 2 * columns, rows, 2 * pitch, 0, 0];
    const { reports } = kernel.launch({ global, local: global, args });
    expect(reports.map(({ code }) => code)).toEqual(["global-out-of-bounds"]);
  });

  describe("by hand", () => {
    const declarations = [
      ".decl P v_type=G type=uq num_elts=1 align=qword",
      ...["W", "H", "S", "X", "Y"].map((name) => `.decl ${name} v_type=G type=d num_elts=1 align=dword`),
      ".decl PAYLOAD v_type=G type=ud num_elts=16 align=wordx32",
      ".decl PQ v_type=G type=uq num_elts=8 align=wordx32 alias=<PAYLOAD, 0>",
    ];
    // The matrix is the output itself: 16 columns of dwords, 64 bytes to a row, from its second row on.
    const set = (x: number, y: number): string[] => [
      "add (M1_NM, 1) P(0,0)<1> OUT(0,0)<0;1,0> 0x40:ud",
      "mov (M1_NM, 1) W(0,0)<1> 0x3f:d",
      "mov (M1_NM, 1) H(0,0)<1> 0x3:d",
      "mov (M1_NM, 1) S(0,0)<1> 0x3f:d",
      `mov (M1_NM, 1) X(0,0)<1> ${x}:d`,
      `mov (M1_NM, 1) Y(0,0)<1> ${y}:d`,
    ];
    const place = "flat[P,W,H,S,X,Y]";
    const written = (body: readonly string[]): number[] => {
      const program: ImageProgram = { declarations, body, results: 0, buffer: 96, platform: "pvc" };
      return [...runOnImage(program, engine, { type: "u32", width: 16, height: 8 }, iota(128)).words];
    };

    test("a store drops what is outside", () => {
      const body = [...set(12, 3), `lsc_store_block2d.ugm (M1_NM, 1) ${place} LANE:d32.8x2nn`];
      // Row 3 of the matrix is row 4 of the output: columns 12 to 15 are inside, and the next row is not.
      expect(written(body)).toEqual(iota(96).map((i) => (i >= 76 && i < 80 ? i - 76 : 0)));
    });

    test("an address in one register, with a distance; a prefetch has no effect", () => {
      const body = [
        ...set(0, 0),
        "mov (M1_NM, 16) PAYLOAD(0,0)<1> 0x0:ud",
        "mov (M1_NM, 1) PQ(0,0)<1> P(0,0)<0;1,0>",
        ...["W", "H", "S", "X", "Y"].map((name, i) => `mov (M1_NM, 1) PAYLOAD(0,${i + 2})<1> ${name}(0,0)<0;1,0>`),
        `lsc_load_block2d.ugm (M1_NM, 1) %null:d32.16x4nn ${place}`,
        "lsc_store_block2d.ugm (M1_NM, 1) flat[PAYLOAD+(4,2)] LANE:d32.8x2nn",
      ];
      const at = (first: number, i: number): number => (i >= first && i < first + 8 ? i - first : -1);
      expect(written(body)).toEqual(iota(96).map((i) => Math.max(0, at(52, i), at(68, i) < 0 ? 0 : 8 + at(68, i))));
    });
  });
});

describe.each(["skl", "icllp", "tgllp", "dg2"])("%s", (platform) => {
  const image = { type: "u32", width: 32, height: 8 } as const;
  const texels = iota(256).map((i) => 1000 + i);
  test.each(usualEngines)("blocks of an image are copied (%s)", (engine) => {
    const { device, kernel } = load(platform, "block_copy", engine);
    const from = device.image(image).write(texels);
    const to = device.image(image);
    // Two groups side by side, two below each other: 16 lanes of 4 bytes, 4 rows.
    const size = [32, 2, 1] as const;
    const args = [from.texture(), to.surface(), 0, 0];
    const { reports } = kernel.launch({ global: size, local: [16, 1, 1], args });
    expect(reports).toEqual([]);
    expect([...to.read()]).toEqual(texels);
  });

  test.each(usualEngines)("bytes of rows (%s)", (engine) => {
    const { device, kernel } = load(platform, "block_bytes", engine);
    const from = device.image(image).write(texels);
    const out = device.buffer("u8", 32);
    kernel.launch({ global: [8, 1, 1], local: [8, 1, 1], args: [from.texture(), out, 4, 3] });
    const bytes = new Uint8Array(Uint32Array.from(texels).buffer);
    // The lanes read bytes next to each other, of four rows.
    const expected = iota(32).map((i) => bytes[(3 + (i % 4)) * 128 + 4 + Math.floor(i / 4)]);
    expect([...out.read()]).toEqual(expected);
  });
});
