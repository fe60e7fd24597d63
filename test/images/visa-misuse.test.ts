import { describe, expect, test } from "vitest";
import type { Device, ImageHandle, ImageOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { type ImageProgram, runOnImage } from "./visa-program.ts";

/* What vISA kernels do wrong with images must end with a report in both engines: the code says which. */

const flat: ImageOptions = { type: "f32", width: 16, height: 2 };
const texels = Array.from({ length: 32 }, (_, i) => i);
const declarations = [
  ".decl SRC v_type=G type=ud num_elts=16 align=wordx32",
  ".decl T7 v_type=T num_elts=1 v_name=T007",
  ".decl S1 v_type=S num_elts=1 v_name=S001",
];
const other = ["movs (M1_NM, 1) T7(0) 0x9:ud", "movs (M1_NM, 1) S1(0) 0x9:ud"];

interface Misuse {
  readonly what: string;
  readonly body: readonly string[];
  readonly image?: ImageOptions;
  readonly code: string;
}

const misuses: readonly Misuse[] = [
  {
    what: "a surface that no image is bound to",
    body: [...other, "gather4_typed.R (M1, 16) T7 LANE.0 ONE.0 %null.0 %null.0 R.0"],
    code: "surface-unbound",
  },
  {
    what: "a store to a surface that no image is bound to",
    body: [...other, "scatter4_typed.R (M1, 16) T7 LANE.0 ONE.0 %null.0 %null.0 ZERO.0"],
    code: "surface-unbound",
  },
  {
    what: "a load from a surface that no image is bound to",
    body: [...other, "load_lz.R (M1, 16) 0x0:uw T7 R.0 LANE.0 ONE.0"],
    code: "surface-unbound",
  },
  {
    what: "a sampler that is not bound",
    body: [...other, "sample_lz.R (M1, 16) 0x0:uw S1 T6 R.0 FLANE.0 FLANE.0"],
    code: "bad-handle",
  },
  {
    what: "an atomic operation on texels of another size",
    body: ["typed_atomic.inc (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 %null.0 %null.0 R.0"],
    image: { ...flat, channels: 4 },
    code: "image-mismatch",
  },
  {
    what: "texels of an image whose texels have samples",
    body: ["gather4_typed.R (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 R.0"],
    image: { ...flat, samples: 2 },
    code: "image-mismatch",
  },
  {
    what: "a block of an array",
    body: ["media_ld.nomod (4,4) T6 0 0x0:ud 0x0:ud R.0"],
    image: { ...flat, layers: 2 },
    code: "image-mismatch",
  },
];

/** Both threads of a group execute it; the one with the number 0 stores what the other then loads. */
const racing = (order: readonly string[]): readonly string[] => [
  "and (M1_NM, 1) ODD(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud",
  "cmp.eq (M1_NM, 16) P9 ODD(0,0)<0;1,0> 0x0:ud",
  "(P9) scatter4_typed.R (M1, 16) T6 LANE.0 ONE.0 %null.0 %null.0 ZERO.0",
  ...order,
  "load_lz.R (M1, 16) 0x0:uw T6 R.0 LANE.0 ONE.0",
];

describe.each(usualEngines)("%s", (engine) => {
  test.each(misuses)("$what", ({ body, image = flat, code }) => {
    const count = 32 * (image.channels ?? 1) * (image.samples ?? 1) * (image.layers ?? 1);
    const sampler = (device: Device): ImageHandle => device.sampler({});
    const values = Array.from({ length: count }, (_, i) => i);
    const { codes } = runOnImage({ declarations, body, results: 1 }, engine, image, values, sampler);
    expect(codes).toEqual([code]);
  });

  test("texels that two threads store and load without order are a race, and with a barrier are not", () => {
    const own = [".decl P9 v_type=P num_elts=16", ".decl ODD v_type=G type=ud num_elts=1 align=dword"];
    const program = (order: readonly string[]): ImageProgram => ({
      ...{ declarations: own, body: racing(order), results: 0, buffer: 1, threads: 2 },
    });
    expect(runOnImage(program([]), engine, flat, texels).codes).toEqual(["data-race"]);
    const ordered = program(["lsc_fence.tgm.evict.group", "barrier"]);
    expect(runOnImage(ordered, engine, flat, texels).codes).toEqual([]);
  });

  test("an image whose memory was freed is not launched with", () => {
    const body = ["load_lz.R (M1, 16) 0x0:uw T6 R.0 LANE.0 ONE.0"];
    expect(() => runOnImage({ body, results: 1, freed: true }, engine, flat, texels)).toThrow(/freed/);
  });
});
