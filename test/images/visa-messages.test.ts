import { describe, expect, test } from "vitest";
import type { Device, ImageHandle, ImageOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { type ImageProgram, runOnImage } from "./visa-program.ts";

/*
 * Messages to the sampler whose parameters share doublewords, by hand. What is in which bits is as IGC's pass that
 * makes these messages has it (offsets of four bits, of gathers of six; floats without their low 12 bits, or 9 beside
 * the layer of an array of cubes), and their order as in its decoder of messages.
 */
const iota = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const mips: ImageOptions = { type: "f32", width: 16, height: 8, levels: 2 };
/** Texels are their own numbers: level 1 begins at 128, and at 3 times that in an array of three. */
const at = (x: number, y: number): number => Math.min(15, Math.max(0, x)) + 16 * y;
const small = (x: number, y: number): number => 128 + Math.min(7, x) + 8 * y;
const layered = (x: number, y: number, layer: number): number => 128 * layer + at(x, y);
const smallLayered = (x: number, y: number, layer: number): number => 384 + 32 * layer + Math.min(7, x) + 8 * y;
const passes = (reference: number, texel: number): number => (reference <= texel ? 1 : 0);

const words: Readonly<Record<string, string>> = {
  V: "3e800000",
  ZERO32: "0",
  LOD: "3f800000",
  REF: "41a40000", // 20.5
  FAR: "43c80000", // 400
  FOUR: "f1", // u + 1, v - 1
  LODFOUR: "3f8000f1",
  SIX: "fc1",
  LODSIX: "3f800fc1",
  LAYERFOUR: "f1002",
  LAYERSIX: "fc1002",
  MLODLAYER: "3f800002",
  LAYER: "40000000",
};
const names = Object.keys(words);
const declarations = [
  ...["U", ...names].map((name) => `.decl ${name} v_type=G type=f num_elts=16 align=wordx32`),
  ...names.map((name) => `.decl ${name}_D v_type=G type=ud num_elts=16 align=wordx32 alias=<${name}, 0>`),
];
/** Lane l is at the middle of texel l of 16, in row 2 of 8. */
const body = [
  "add (M1_NM, 16) U(0,0)<1> FLANE(0,0)<1;1,0> 0x3f000000:f",
  "mul (M1_NM, 16) U(0,0)<1> U(0,0)<1;1,0> 0x3d800000:f",
  ...names.map((name) => `mov (M1_NM, 16) ${name}_D(0,0)<1> 0x${words[name]}:ud`),
];
const sampler = (device: Device): ImageHandle => device.sampler({ normalized: true });
const slopes = "U.0 ZERO32.0 ZERO32.0 V.0 ZERO32.0 ZERO32.0";

type Case = readonly [message: string, parameters: string, expected: (lane: number) => number];

const flat: readonly Case[] = [
  ["sample_3d.R", "U.0 V.0 ZERO32.0 ZERO32.0 LOD.0", (l) => small(l >> 1, 1)],
  ["sample_b.R", "ZERO32.0 U.0 V.0 ZERO32.0 LOD.0", (l) => small(l >> 1, 1)],
  ["sample_c.R", "REF.0 U.0 V.0 ZERO32.0 ZERO32.0 LOD.0", (l) => passes(20.5, small(l >> 1, 1))],
  ["sample_mlod.R", "LOD.0 U.0 V.0 ZERO32.0", (l) => small(l >> 1, 1)],
  ["sample_c_mlod.R", "LOD.0 REF.0 U.0 V.0 ZERO32.0", (l) => passes(20.5, small(l >> 1, 1))],
  ["sample_d.R", `${slopes} ZERO32.0 LOD.0`, (l) => small(l >> 1, 1)],
  ["sample_po.R", "U.0 V.0 ZERO32.0 FOUR.0", (l) => at(l + 1, 1)],
  ["sample_po.R", "U.0 V.0 ZERO32.0 FOUR.0 LOD.0", (l) => small((l >> 1) + 1, 0)],
  ["sample_po_b.R", "LODFOUR.0 U.0 V.0 ZERO32.0", (l) => small((l >> 1) + 1, 0)],
  ["sample_po_l.R", "LODFOUR.0 U.0 V.0 ZERO32.0", (l) => small((l >> 1) + 1, 0)],
  ["sample_po_c.R", "REF.0 U.0 V.0 LAYERFOUR.0", (l) => passes(20.5, at(l + 1, 1))],
  ["sample_po_d.R", `${slopes} LAYERFOUR.0`, (l) => at(l + 1, 1)],
  ["sample_po_d.R", `${slopes} LAYERFOUR.0 LOD.0`, (l) => small((l >> 1) + 1, 0)],
  ["sample_po_l_c.R", "REF.0 LODFOUR.0 U.0 V.0 ZERO32.0", (l) => passes(20.5, small((l >> 1) + 1, 0))],
  ["sample_po_b_c.R", "REF.0 LODFOUR.0 U.0 V.0 ZERO32.0", (l) => passes(20.5, small((l >> 1) + 1, 0))],
  ["sample_po_lz.R", "U.0 V.0 ZERO32.0 FOUR.0", (l) => at(l + 1, 1)],
  ["sample_po_c_lz.R", "REF.0 U.0 V.0 LAYERFOUR.0", (l) => passes(20.5, at(l + 1, 1))],
  ["sample_po_d_c.R", `REF.0 ${slopes} LAYERFOUR.0`, (l) => passes(20.5, at(l + 1, 1))],
];

const array: readonly Case[] = [
  ["sample_po_c.R", "FAR.0 U.0 V.0 LAYERFOUR.0", (l) => passes(400, layered(l + 1, 1, 2))],
  ["sample_po_d.R", `${slopes} LAYERFOUR.0`, (l) => layered(l + 1, 1, 2)],
  ["sample_d_c_mlod.R", `FAR.0 ${slopes} MLODLAYER.0`, (l) => passes(400, smallLayered(l >> 1, 1, 2))],
  ["sample_l.R", "LOD.0 U.0 V.0 LAYER.0", (l) => smallLayered(l >> 1, 1, 2)],
  ["sample_po_l.R", "LODFOUR.0 U.0 V.0 LAYER.0", (l) => smallLayered((l >> 1) + 1, 0, 2)],
];

/** Components of (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j). */
type Gathered = readonly [message: string, parameters: string, texel: (x: number, y: number) => number, level: 0 | 1];
const gathers: readonly Gathered[] = [
  ["sample4_po.R", "U.0 V.0 ZERO32.0 SIX.0", at, 0],
  ["sample4_po_c.R", "REF.0 U.0 V.0 LAYERSIX.0", (x, y) => passes(20.5, at(x, y)), 0],
  ["sample4_po_i.R", "U.0 V.0 ZERO32.0 SIX.0", at, 0],
  ["sample4_po_i_c.R", "REF.0 U.0 V.0 LAYERSIX.0", (x, y) => passes(20.5, at(x, y)), 0],
  ["sample4_po_l.R", "LODSIX.0 U.0 V.0 ZERO32.0", small, 1],
  ["sample4_po_b.R", "LODSIX.0 U.0 V.0 ZERO32.0", small, 1],
  ["sample4_po_l_c.R", "REF.0 LODSIX.0 U.0 V.0 ZERO32.0", (x, y) => passes(20.5, small(x, y)), 1],
];

describe.each(usualEngines)("%s", (engine) => {
  const send = (line: string, results: number, image: ImageOptions, texels: number, platform = "bmg") => {
    const program: ImageProgram = { declarations, body: [...body, line], results, platform };
    return runOnImage(program, engine, image, iota(texels), sampler);
  };
  const message = (name: string, parameters: string): string => `${name} (M1, 16) 0x0:uw S0 T6 RF.0 ${parameters}`;

  test.each(flat)("%s %s", (name, parameters, expected) => {
    const { floats, codes } = send(message(name, parameters), 1, mips, 160);
    expect(codes).toEqual([]);
    expect([...floats]).toEqual(iota(16).map(expected));
  });

  test.each(array)("%s %s of an array", (name, parameters, expected) => {
    const { floats, codes } = send(message(name, parameters), 1, { ...mips, layers: 3 }, 480);
    expect(codes).toEqual([]);
    expect([...floats]).toEqual(iota(16).map(expected));
  });

  test.each(gathers)("%s %s", (name, parameters, texel, level) => {
    const { floats, codes } = send(message(name, parameters), 4, mips, 160);
    expect(codes).toEqual([]);
    // At level 1 lane l is at l / 2 + 1 / 4, so that the first texel is that of (l - 1) / 2.
    const first = (l: number): number => (level === 0 ? l : Math.floor((l - 1) / 2)) + 1;
    const row = (level === 0 ? 1 : 0) - 1;
    const four = [
      ...[(l: number) => texel(first(l), row + 1), (l: number) => texel(first(l) + 1, row + 1)],
      ...[(l: number) => texel(first(l) + 1, Math.max(0, row)), (l: number) => texel(first(l), Math.max(0, row))],
    ];
    expect([...floats]).toEqual(four.flatMap((component) => iota(16).map(component)));
  });

  test("before Xe2 the offsets of sample4_po are parameters of their own", () => {
    const line = message("sample4_po.R", "U.0 V.0 ONE.0 ONE.0 ZERO32.0");
    const { floats } = send(line, 4, mips, 160, "dg2");
    expect([...floats.slice(48)]).toEqual(iota(16).map((l) => at(l + 1, 2)));
  });

  test("from Xe2 on the low bits of a level are the layer of an array of cubes", () => {
    const cubes: ImageOptions = { type: "f32", width: 4, height: 4, cube: true, layers: 2 };
    // Straight along x is the middle of the first face; the layer is 1.
    const line = "sample_l.R (M1, 16) 0x0:uw S0 T6 RF.0 AI.0 LOD.0 ZERO32.0 ZERO32.0";
    const own = [".decl AI v_type=G type=ud num_elts=16 align=wordx32"];
    const fill = "mov (M1_NM, 16) AI(0,0)<1> 0x1:ud";
    const program: ImageProgram = {
      ...{ declarations: [...declarations, ...own], body: [...body, fill, line], results: 1, platform: "bmg" },
    };
    const { floats } = runOnImage(program, engine, cubes, iota(192), sampler);
    expect([...floats]).toEqual(iota(16).fill(6 * 16 + 2 * 4 + 2));
  });

  test("load_l has its level at the end", () => {
    const line = "load_l.R (M1, 16) 0x0:uw T6 RF.0 LANE.0 ONE.0 ZERO.0 ONE.0";
    expect([...send(line, 1, mips, 160).floats]).toEqual(iota(16).map((l) => (l < 8 ? small(l, 1) : 0)));
  });

  test("sample and load of media kernels have a number of lanes, and no mask", () => {
    const sampled = send("sample.R (16) S0 T6 U.0 V.0 ZERO32.0 RF.0", 1, mips, 160, "dg2");
    expect([...sampled.floats]).toEqual(iota(16).map((l) => at(l, 2)));
    const loaded = send("load.R (16) T6 LANE.0 ONE.0 ZERO.0 RF.0", 1, mips, 160, "dg2");
    expect([...loaded.floats]).toEqual(iota(16).map((l) => at(l, 1)));
  });

  describe("samples of texels", () => {
    const samples: ImageOptions = { type: "u32", width: 16, height: 2, samples: 4 };
    const own = [".decl SI v_type=G type=ud num_elts=16 align=wordx32"];
    const spread = "and (M1_NM, 16) SI(0,0)<1> LANE(0,0)<1;1,0> 0x3:ud";
    const run = (line: string, image = samples) =>
      runOnImage({ declarations: own, body: [spread, line], results: 1, platform: "bmg" }, engine, image, iota(128));
    /** Samples lie one after the other. */
    const place = (l: number): number => 32 * (l & 3) + 16 + l;

    test("lsc_load_quad_msrt", () => {
      const { words: loaded } = run("lsc_load_quad_msrt.tgm (M1, 16) R:d32.x bti(0x0)[LANE,ONE,ZERO,SI]:a32");
      expect([...loaded]).toEqual(iota(16).map(place));
    });

    test("lsc_store_quad_msrt", () => {
      const { texels } = run("lsc_store_quad_msrt.tgm (M1, 16) bti(0x0)[LANE,ONE,ZERO,SI]:a32 ZERO:d32.x");
      expect(texels).toEqual(iota(128).map((i) => (iota(16).some((l) => place(l) === i) ? 0 : i)));
    });

    test("atomic operations with .msaa", () => {
      const line = "lsc_atomic_iadd.tgm.msaa (M1, 16) R:d32 bti(0x0)[LANE,ONE,ZERO,SI]:a32 ONE %null";
      const { words: old, texels } = run(line);
      expect([...old]).toEqual(iota(16).map(place));
      expect(texels).toEqual(iota(128).map((i) => (iota(16).some((l) => place(l) === i) ? i + 1 : i)));
    });

    test.each([
      ["lsc_load_quad.tgm (M1, 16) R:d32.x bti(0x0)[LANE,ONE]:a32", samples],
      ["lsc_load_quad_msrt.tgm (M1, 16) R:d32.x bti(0x0)[LANE,ONE,ZERO,SI]:a32", { ...samples, samples: 1 }],
    ] as const)("%s of an image of the other kind", (line, image) => {
      const texels = image.samples === 1 ? 32 : 128;
      const program = { declarations: own, body: [spread, line], results: 1, platform: "bmg" };
      expect(runOnImage(program, engine, image, iota(texels)).codes).toEqual(["image-mismatch"]);
    });
  });

  describe("fields of interlaced images", () => {
    const bytes: ImageOptions = { type: "u8", width: 16, height: 5 };
    const load = (mode: string, y: number) => {
      const line = `media_ld.${mode} (16,2) T6 0 0x0:ud 0x${y.toString(16)}:ud R.0`;
      const { words: loaded } = runOnImage({ body: [line], results: 1, platform: "dg2" }, engine, bytes, iota(80));
      return [...new Uint8Array(loaded.buffer, loaded.byteOffset, 32)];
    };
    const row = (y: number): number[] => iota(16).map((x) => 16 * y + x);
    test.each([
      ["top", 0, [0, 2]],
      ["top_mod", 1, [2, 4]],
      ["bottom", 0, [1, 3]],
      ["bottom_mod", 1, [3, 3]],
      ["modified", 1, [1, 2]],
    ] as const)("media_ld.%s from row %s", (mode, y, [first, second]) => {
      expect(load(mode, y)).toEqual([...row(first), ...row(second)]);
    });

    test("media_st.bottom stores every second row, and nothing outside", () => {
      const line = "media_st.bottom (16,3) T6 0 0x0:ud 0x1:ud R.0";
      const clear = "mov (M1_NM, 16) R(0,0)<1> 0x0:ud";
      const program = { body: [clear, line], results: 1, platform: "dg2" };
      const { texels } = runOnImage(program, engine, bytes, iota(80));
      expect(texels).toEqual([...iota(48), ...iota(16).fill(0), ...row(4)]);
    });
  });
});
