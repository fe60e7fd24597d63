import { describe, expect, test } from "vitest";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { type ImageProgram, runOnImage } from "./visa-program.ts";

/*
 * Atomic operations, accesses and blocks of typed surfaces, by hand. Expected values follow from the tables and the
 * pseudo code of the pages TYPED_ATOMIC, LSC_TYPED, INFO, MEDIA_LD, MEDIA_ST.
 */
const iota = (n: number, first = 0): number[] => Array.from({ length: n }, (_, i) => first + i);
const row16 = { type: "u32", width: 16, height: 2 } as const;
const bits = (value: number): number => new Uint32Array(new Float32Array([value]).buffer)[0]!;

const decls = [
  ".decl SRC v_type=G type=ud num_elts=16 align=wordx32",
  ".decl SRC1 v_type=G type=ud num_elts=16 align=wordx32",
  ".decl DR v_type=G type=d num_elts=16 align=wordx32 alias=<R, 0>",
  ".decl DSRC v_type=G type=d num_elts=16 align=wordx32 alias=<SRC, 0>",
];
const source = ["mul (M1_NM, 16) SRC(0,0)<1> LANE(0,0)<1;1,0> 0x3:ud"];

/** What an element and an operand, 3 times the lane, become; signed numbers are those of two's complement. */
const typed: readonly (readonly [op: string, next: (old: number, src: number) => number, operands: string])[] = [
  ["add", (a, b) => a + b, "SRC.0 %null.0 R.0"],
  ["sub", (a, b) => a - b, "SRC.0 %null.0 R.0"],
  ["inc", (a) => a + 1, "%null.0 %null.0 R.0"],
  ["dec", (a) => a - 1, "%null.0 %null.0 R.0"],
  ["min", (a, b) => Math.min(a, b), "SRC.0 %null.0 R.0"],
  ["max", (a, b) => Math.max(a, b), "SRC.0 %null.0 R.0"],
  ["xchg", (_, b) => b, "SRC.0 %null.0 R.0"],
  ["and", (a, b) => a & b, "SRC.0 %null.0 R.0"],
  ["or", (a, b) => a | b, "SRC.0 %null.0 R.0"],
  ["xor", (a, b) => a ^ b, "SRC.0 %null.0 R.0"],
];

describe.each(usualEngines)("%s", (engine) => {
  describe("typed_atomic", () => {
    test.each(typed)("%s", (op, next, operands) => {
      const body = [...source, `typed_atomic.${op} (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 ${operands}`];
      const { words, texels, codes } = runOnImage(
        { declarations: decls, body, results: 1 },
        engine,
        row16,
        iota(32, 5),
      );
      expect(codes).toEqual([]);
      expect([...words]).toEqual(iota(16, 21));
      expect(texels).toEqual([...iota(16, 5), ...iota(16).map((i) => next(21 + i, 3 * i) >>> 0)]);
    });

    test("predec gives the new value", () => {
      const body = ["typed_atomic.predec (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 %null.0 %null.0 R.0"];
      const { words, texels } = runOnImage({ body, results: 1 }, engine, row16, iota(32, 5));
      expect([...words]).toEqual(iota(16, 20));
      expect(texels.slice(16)).toEqual(iota(16, 20));
    });

    test("signed minimum", () => {
      const body = [...source, "typed_atomic.minsint (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 DSRC.0 %null.0 DR.0"];
      const image = { ...row16, type: "s32" } as const;
      const { texels } = runOnImage({ declarations: decls, body, results: 1 }, engine, image, iota(32, -20));
      expect(texels.slice(16)).toEqual(iota(16).map((i) => Math.min(i - 4, 3 * i)));
    });

    test("cmpxchg exchanges where the second operand is there", () => {
      const fill = [...source, "mov (M1_NM, 16) SRC1(0,0)<1> 0x17:ud"];
      const body = [...fill, "typed_atomic.cmpxchg (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 SRC.0 SRC1.0 R.0"];
      const { texels } = runOnImage({ declarations: decls, body, results: 1 }, engine, row16, iota(32, 5));
      expect(texels.slice(16)).toEqual(iota(16, 21).map((old, i) => (old === 0x17 ? 3 * i : old)));
    });

    test("all lanes at one texel: nothing is lost", () => {
      const body = [...source, "typed_atomic.add (M1, 16) T6 ZERO.0 ZERO.0 %null.0 %null.0 SRC.0 %null.0 R.0"];
      const { texels } = runOnImage({ declarations: decls, body, results: 1 }, engine, row16, iota(32));
      expect(texels[0]).toBe((3 * 15 * 16) / 2);
    });

    test("outside: zeros, and nothing is stored", () => {
      const move = "add (M1_NM, 16) SRC(0,0)<1> LANE(0,0)<1;1,0> 0x8:ud";
      const body = [move, "typed_atomic.inc (M1, 16) T6 SRC.0 ONE.0 %null.0 %null.0 %null.0 %null.0 R.0"];
      const { words, texels } = runOnImage({ declarations: decls, body, results: 1 }, engine, row16, iota(32, 5));
      expect([...words]).toEqual([...iota(8, 29), ...iota(8).fill(0)]);
      expect(texels).toEqual([...iota(24, 5), ...iota(8, 30)]);
    });

    test("16 bits, in the low halves of dwords", () => {
      const body = [...source, "typed_atomic.sub.16 (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 SRC.0 %null.0 R.0"];
      const image = { ...row16, type: "u16" } as const;
      const program = { declarations: decls, body, results: 1, platform: "dg2" };
      const { words, texels } = runOnImage(program, engine, image, iota(32, 5));
      expect([...words]).toEqual(iota(16, 21));
      expect(texels.slice(16)).toEqual(iota(16).map((i) => (21 + i - 3 * i) & 0xffff));
    });

    test("an image of other texels", () => {
      const body = ["typed_atomic.inc (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 %null.0 %null.0 R.0"];
      const { codes } = runOnImage({ body, results: 1 }, engine, { ...row16, type: "u8" }, iota(32));
      expect(codes).toEqual(["image-mismatch"]);
    });
  });

  describe("LSC", () => {
    const four = { type: "f32", channels: 4, width: 16, height: 2 } as const;
    const texels = iota(128).map((i) => i / 4);
    test("lsc_load_quad: the channels, each in registers of its own", () => {
      const body = ["lsc_load_quad.tgm (M1, 16) R:d32.xzw bti(0x0)[LANE,ONE]:a32"];
      const { floats } = runOnImage({ body, results: 3 }, engine, four, texels);
      expect([...floats]).toEqual([0, 2, 3].flatMap((c) => iota(16).map((i) => texels[64 + 4 * i + c]!)));
    });

    test("lsc_store_quad: channels that are not named stay", () => {
      const body = [
        "mov (M1_NM, 16) RF(0,0)<1> FLANE(0,0)<1;1,0>",
        "lsc_store_quad.tgm (M1, 16) bti(0x0)[LANE,ONE]:a32 R:d32.y",
      ];
      const after = runOnImage({ body, results: 1 }, engine, four, texels);
      expect(after.texels).toEqual(texels.map((old, i) => (i >= 64 && i % 4 === 1 ? Math.floor((i - 64) / 4) : old)));
    });

    test.each([
      ["iadd", (a: number, b: number) => a + b, "SRC %null"],
      ["isub", (a: number, b: number) => a - b, "SRC %null"],
      ["iinc", (a: number) => a + 1, "%null %null"],
      ["idec", (a: number) => a - 1, "%null %null"],
      ["store", (_: number, b: number) => b, "SRC %null"],
      ["load", (a: number) => a, "%null %null"],
      ["umin", Math.min, "SRC %null"],
      ["umax", Math.max, "SRC %null"],
      ["and", (a: number, b: number) => a & b, "SRC %null"],
      ["or", (a: number, b: number) => a | b, "SRC %null"],
      ["xor", (a: number, b: number) => a ^ b, "SRC %null"],
      ["icas", (a: number, b: number) => (a === b ? 1 : a), "SRC ONE"],
    ] as const)("lsc_atomic_%s", (op, next, operands) => {
      const body = [...source, `lsc_atomic_${op}.tgm (M1, 16) R:d32 bti(0x0)[LANE,ONE]:a32 ${operands}`];
      const after = runOnImage({ declarations: decls, body, results: 1 }, engine, row16, iota(32, 5));
      expect([...after.words]).toEqual(iota(16, 21));
      expect(after.texels.slice(16)).toEqual(iota(16).map((i) => next(21 + i, 3 * i) >>> 0));
    });

    test("floats", () => {
      const body = [
        "mov (M1_NM, 16) R(0,0)<1> 0x3f000000:ud",
        "lsc_atomic_fadd.tgm (M1, 16) R:d32 bti(0x0)[LANE,ONE]:a32 R %null",
      ];
      const image = { type: "f32", width: 16, height: 2 } as const;
      const after = runOnImage({ body, results: 1 }, engine, image, iota(32));
      expect(after.texels.slice(16)).toEqual(iota(16, 16).map((n) => n + 0.5));
    });

    test("64 bits", () => {
      const wide = [
        ...decls,
        ".decl Q v_type=G type=uq num_elts=16 align=wordx32",
        ".decl RQ v_type=G type=uq num_elts=16 align=wordx32 alias=<R, 0>",
      ];
      const body = [
        "mov (M1_NM, 16) Q(0,0)<1> LANE(0,0)<1;1,0>",
        "lsc_atomic_isub.tgm (M1, 16) RQ:d64 bti(0x0)[LANE,ONE]:a32 Q %null",
      ];
      const image = { type: "u32", channels: 2, width: 16, height: 2 } as const;
      const after = runOnImage(
        { declarations: wide, body, results: 2 },
        engine,
        image,
        iota(64).map((i) => (i % 2 ? 7 : 5)),
      );
      const next = iota(16).flatMap((i) => (i > 5 ? [0x1_0000_0005 - i, 6] : [5 - i, 7]));
      expect(after.texels.slice(32)).toEqual(next);
      expect([...after.words]).toEqual(iota(32).map((i) => (i % 2 ? 7 : 5)));
    });
  });

  describe("blocks of an image", () => {
    const bytes = { type: "u8", width: 24, height: 6 } as const;
    const pixels = iota(144);
    const place = [".decl X v_type=G type=d num_elts=1 align=dword", ".decl Y v_type=G type=d num_elts=1 align=dword"];
    const at = (x: number, y: number): string[] => [
      `mov (M1_NM, 1) X(0,0)<1> ${x}:d`,
      `mov (M1_NM, 1) Y(0,0)<1> ${y}:d`,
    ];
    const clear = ["mov (M1_NM, 16) R(0,0)<1> 0x0:ud"];
    const block = (x: number, y: number, width: number, height: number, outside: "edge" | "zero"): number[] => {
      const pitch = Math.max(4, 2 ** Math.ceil(Math.log2(width)));
      const inside = (n: number, size: number): number => Math.max(0, Math.min(n, size - 1));
      const registers = iota(64).fill(0);
      for (let j = 0; j < height; j++) {
        for (let i = 0; i < width; i++) {
          const [u, v] = [inside(x + i, 24), inside(y + j, 6)];
          const isOut = u !== x + i || v !== y + j;
          registers[j * pitch + i] = isOut && outside === "zero" ? 0 : pixels[v * 24 + u]!;
        }
      }
      return registers;
    };
    const bytesOf = (words: Uint32Array): number[] => [...new Uint8Array(words.buffer)];

    test.each([
      [3, 1, 8, 4],
      [0, 0, 3, 5],
      [20, 4, 12, 4],
      [-2, -1, 16, 2],
    ] as const)("media_ld at (%s, %s), %s by %s", (x, y, w, h) => {
      const body = [...clear, ...at(x, y), `media_ld.nomod (${w},${h}) T6 0 X(0,0)<0;1,0> Y(0,0)<0;1,0> R.0`];
      const { words } = runOnImage({ declarations: place, body, results: 1 }, engine, bytes, pixels);
      expect(bytesOf(words)).toEqual(block(x, y, w, h, "edge"));
    });

    test("media_st drops what is outside", () => {
      const fill = "add (M1_NM, 16) R(0,0)<1> LANE(0,0)<1;1,0> 0xa0:ud";
      const body = [fill, ...at(20, 4), "media_st.nomod (8,4) T6 0 X(0,0)<0;1,0> Y(0,0)<0;1,0> R.0"];
      const { texels } = runOnImage({ declarations: place, body, results: 1 }, engine, bytes, pixels);
      // Rows of 8 bytes: of each the first dword, which has the numbers of even lanes.
      const expected = pixels.map((old, i) => {
        const [u, v] = [i % 24, Math.floor(i / 24)];
        if (u < 20 || v < 4) return old;
        return u === 20 ? 0xa0 + 2 * (v - 4) : 0;
      });
      expect(texels).toEqual(expected);
    });

    test.each([
      [4, 1, 16, 4],
      [16, 4, 16, 4],
    ] as const)("typed lsc_load_block2d at (%s, %s), %s by %s", (x, y, w, h) => {
      const body = [...clear, ...at(x, y), `lsc_load_block2d.tgm R:${w}x${h} bti(0x0)[X(0,0),Y(0,0)]`];
      const program: ImageProgram = { declarations: place, body, results: 1, platform: "bmg" };
      const { words } = runOnImage(program, engine, bytes, pixels);
      expect(bytesOf(words)).toEqual(block(x, y, w, h, "zero"));
    });

    test("typed lsc_store_block2d", () => {
      const body = [
        "mov (M1_NM, 16) R(0,0)<1> LANE(0,0)<1;1,0>",
        ...at(0, 1),
        "lsc_store_block2d.tgm bti(0x0)[X(0,0),Y(0,0)] R:16x2",
      ];
      const program: ImageProgram = { declarations: place, body, results: 1, platform: "bmg" };
      const { texels } = runOnImage(program, engine, bytes, pixels);
      expect(texels.slice(24, 48)).toEqual([...[0, 1, 2, 3].flatMap((n) => [n, 0, 0, 0]), ...iota(8, 40)]);
      expect(texels.slice(48, 72)).toEqual([...[4, 5, 6, 7].flatMap((n) => [n, 0, 0, 0]), ...iota(8, 64)]);
    });

    test("an image of three dimensions has no blocks", () => {
      const body = [...clear, ...at(0, 0), "media_ld.nomod (4,4) T6 0 X(0,0)<0;1,0> Y(0,0)<0;1,0> R.0"];
      const { codes } = runOnImage(
        { declarations: place, body, results: 1 },
        engine,
        { ...bytes, depth: 2 },
        iota(288),
      );
      expect(codes).toEqual(["image-mismatch"]);
    });
  });

  test("sampleinfo", () => {
    const image = { type: "f32", width: 2, height: 2, samples: 4 } as const;
    const { words } = runOnImage({ body: ["sampleinfo.R (M1, 16) T6 R.0"], results: 1 }, engine, image, iota(16));
    expect([...words]).toEqual(iota(16).fill(4));
  });

  test("load_mcs: samples are not compressed", () => {
    const image = { type: "f32", width: 2, height: 2, samples: 4 } as const;
    const body = ["load_mcs.R (M1, 16) 0x0:uw T6 R.0 ZERO.0 ZERO.0"];
    expect([...runOnImage({ body, results: 1 }, engine, image, iota(16)).words]).toEqual(iota(16).fill(0));
  });

  describe("messages to the sampler", () => {
    // 16 x 2 texels, then 8 x 1, 4 x 1, 2 x 1 and 1 x 1.
    const mips = { type: "f32", width: 16, height: 2, levels: 5 } as const;
    const values = iota(47);
    const plain = (device: { sampler: (o: object) => never }) => device.sampler({});
    const floats = [
      ".decl F v_type=G type=f num_elts=16 align=wordx32",
      ".decl Z v_type=G type=f num_elts=16 align=wordx32",
      ".decl D1 v_type=G type=d num_elts=16 align=wordx32",
      ".decl H v_type=G type=hf num_elts=16 align=wordx32",
      ".decl HZ v_type=G type=hf num_elts=16 align=wordx32",
      ".decl RH v_type=G type=hf num_elts=16 align=wordx32 alias=<R, 0>",
      ".decl W v_type=G type=uw num_elts=16 align=wordx32",
      ".decl WZ v_type=G type=uw num_elts=16 align=wordx32",
    ];
    const set = [
      "mov (M1_NM, 16) F(0,0)<1> 0x3f800000:f",
      "mov (M1_NM, 16) Z(0,0)<1> 0x0:f",
      "mov (M1_NM, 16) D1(0,0)<1> 0x1:d",
      "mov (M1_NM, 16) H(0,0)<1> FLANE(0,0)<1;1,0>",
      "mov (M1_NM, 16) HZ(0,0)<1> 0x0:hf",
      "mov (M1_NM, 16) W(0,0)<1> LANE(0,0)<1;1,0>",
      "mov (M1_NM, 16) WZ(0,0)<1> ZERO(0,0)<1;1,0>",
    ];
    const message = (line: string, results: number) =>
      runOnImage(
        { declarations: floats, body: [...set, "mov (M1_NM, 16) R(0,0)<1> 0x0:ud", line], results },
        engine,
        mips,
        values,
        plain as never,
      );

    test("sample_b adds to level 0", () => {
      const { floats: got } = message("sample_b.R (M1, 16) 0x0:uw S0 T6 R.0 F.0 FLANE.0 Z.0", 1);
      expect([...got]).toEqual(iota(16).map((i) => 32 + Math.min(i, 7)));
    });
    test("sample4_l takes texels of a level", () => {
      // At texel (lane, 0) the four are (i - 1, j), (i, j), (i, j - 1) and (i - 1, j - 1); the level has one row.
      const { floats: got } = message("sample4_l.R (M1, 16) 0x0:uw S0 T6 R.0 F.0 FLANE.0 Z.0", 4);
      const near = (i: number): number => 32 + Math.max(0, Math.min(i, 7));
      expect([...got]).toEqual([-1, 0, 0, -1].flatMap((dx) => iota(16).map((i) => near(i + dx))));
    });
    test("sample4_po has an offset for each lane", () => {
      const { floats: got } = message("sample4_po.R (M1, 16) 0x0:uw S0 T6 R.0 FLANE.0 Z.0 LANE.0 D1.0", 4);
      const near = (i: number, j: number): number => 16 * Math.max(0, Math.min(j, 1)) + Math.max(0, Math.min(i, 15));
      const four = [
        [-1, 1],
        [0, 1],
        [0, 0],
        [-1, 0],
      ] as const;
      expect([...got]).toEqual(four.flatMap(([dx, dy]) => iota(16).map((i) => near(2 * i + dx, dy))));
    });
    test("parameters and results of 16 bits", () => {
      const { words } = message("sample_3d.R (M1, 16) 0x0:uw S0 T6 RH.0 H.0 HZ.0", 1);
      // 0 to 15 as binary16, two in a word.
      const half = (n: number): number =>
        n === 0 ? 0 : ((15 + Math.floor(Math.log2(n))) << 10) | ((n / 2 ** Math.floor(Math.log2(n)) - 1) * 1024);
      expect([...words.slice(0, 8)]).toEqual(iota(8).map((i) => half(2 * i) | (half(2 * i + 1) << 16)));
    });
    test("integers of 16 bits", () => {
      const { floats: got } = message("load_lz.R (M1, 16) 0x0:uw T6 R.0 W.0 WZ.0", 1);
      expect([...got]).toEqual(iota(16));
    });
    test("the mask of pixels that are there", () => {
      const { words } = message("sample_lz.pixel_null_mask.R (M1, 16) 0x0:uw S0 T6 R.0 FLANE.0 Z.0", 2);
      expect(words[16]).toBe(0xffff);
      expect(words[3]).toBe(bits(3));
    });
  });
});
