import { describe, expect, test } from "vitest";
import { type Box, type BoxRequest, boxOf, requestProblem } from "../../../src/program/tensor/box.ts";
import { type BoxPlaces, boxExtent, loadBox, storeBox } from "../../../src/program/tensor/box-copy.ts";
import { interiorBox } from "../../../src/program/tensor/interior-box.ts";
import { swizzled } from "../../../src/program/tensor/swizzle.ts";
import type { TensorMap } from "../../../src/program/tensor/tensor-map.ts";
import { plainMap } from "./maps.ts";

const tile = (coordinates: readonly number[]): BoxRequest => ({ mode: "tile", coordinates, info: [] });

const memory = (bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, i) => (i * 167 + (i >> 8) * 31) | 1);

function places(box: Box, shared: Uint8Array, global: Uint8Array): BoxPlaces {
  const views = { u8: global, i32: new Int32Array(global.buffer) };
  return { address: 1024, shared, tensor: box.runs.map(({ from }) => (from === null ? null : { views, at: from })) };
}

function loaded(map: TensorMap, request: BoxRequest, global: Uint8Array): Uint8Array {
  const box = boxOf(map, request);
  const shared = new Uint8Array(boxExtent(map.swizzle, 1024, box.bytes)).fill(0xee);
  loadBox(map, box, places(box, shared, global));
  return shared;
}

/** A tiled box element by element, from the driver's words on boxDim, elementStrides and out-of-bound elements. */
function tiledByElement(map: TensorMap, start: readonly number[], global: Uint8Array, bytes: number): number[] {
  if (map.box.mode !== "tiled") throw new Error("not tiled");
  const size = map.box.size.map((n, d) => (d === 0 ? n : Math.ceil(n / map.elementStrides[d]!)));
  const out: number[] = [];
  const total = size.reduce((a, b) => a * b);
  for (let n = 0; n < total; n++) {
    let rest = n;
    let at = 0;
    let inside = true;
    size.forEach((count, d) => {
      const c = start[d]! + (rest % count) * (d === 0 ? 1 : map.elementStrides[d]!);
      rest = Math.floor(rest / count);
      if (c < 0 || c >= map.globalDim[d]!) inside = false;
      at += c * (d === 0 ? bytes : map.globalStrides[d - 1]!);
    });
    for (let b = 0; b < bytes; b++) out.push(inside ? global[at + b]! : 0);
  }
  return out;
}

const ranks: readonly (readonly [string, TensorMap, number])[] = [
  [
    "1d",
    { ...plainMap, globalDim: [50], globalStrides: [], box: { mode: "tiled", size: [32] }, elementStrides: [1] },
    1,
  ],
  ["2d", plainMap, 1],
  ["2d with a stride", { ...plainMap, box: { mode: "tiled", size: [16, 7] }, elementStrides: [1, 3] }, 1],
  [
    "3d u16",
    {
      ...plainMap,
      type: "u16",
      globalDim: [20, 5, 3],
      globalStrides: [48, 256],
      box: { mode: "tiled", size: [8, 3, 2] },
      elementStrides: [1, 2, 1],
    },
    2,
  ],
  [
    "5d f32",
    {
      ...plainMap,
      type: "f32",
      globalDim: [6, 3, 2, 3, 2],
      globalStrides: [32, 96, 192, 576],
      box: { mode: "tiled", size: [4, 2, 2, 3, 2] },
      elementStrides: [1, 1, 1, 2, 1],
    },
    4,
  ],
];

describe("tiled boxes", () => {
  const global = memory(4096);
  test.each(ranks)("%s: inside, across edges and outside", (_name, map, bytes) => {
    for (const at of [0, 1, -2, 3, 100]) {
      const start = map.globalDim.map((_, d) => (d === 0 ? at : Math.min(at, 2)));
      expect([...loaded(map, tile(start), global)], `from ${start}`).toEqual(tiledByElement(map, start, global, bytes));
    }
  });

  test("a store writes what a load reads, and nothing outside", () => {
    for (const [, map] of ranks) {
      const start = map.globalDim.map((_, d) => (d === 0 ? 1 : 0));
      const shared = loaded(map, tile(start), global);
      const target = new Uint8Array(4096).fill(0xcc);
      const box = boxOf(map, tile(start));
      storeBox(map, box, places(box, shared, target), null);
      let written = 0;
      for (const run of box.runs) if (run.from !== null) written += run.bytes;
      const changed = [...target].filter((byte, i) => byte === global[i]).length;
      expect(changed).toBeGreaterThanOrEqual(written);
      expect([...target].filter((byte) => byte !== 0xcc).length).toBeLessThanOrEqual(written);
    }
  });

  test.each(["32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"] as const)(
    "swizzle %s moves each byte as it moves its address",
    (swizzle) => {
      const dense = loaded({ ...plainMap, box: { mode: "tiled", size: [32, 5] } }, tile([3, 1]), global);
      const map: TensorMap = { ...plainMap, box: { mode: "tiled", size: [32, 5] }, swizzle };
      const shared = loaded(map, tile([3, 1]), global);
      const moved = [...dense].map((_, i) => shared[swizzled(swizzle, 1024 + i) - 1024]);
      expect(moved).toEqual([...dense]);
      const target = new Uint8Array(4096);
      const box = boxOf(map, tile([3, 1]));
      storeBox(map, box, places(box, shared, target), null);
      expect(target.subarray(64 + 3, 64 + 35)).toEqual(global.subarray(64 + 3, 64 + 35));
      // Whole chunks that begin at words in one piece of memory, as most boxes have them.
      const { box: first, from } = interiorBox(map, tile([4, 1]))!;
      const aligned = new Uint8Array(boxExtent(map.swizzle, 1024, first.bytes));
      const views = { u8: global, i32: new Int32Array(global.buffer) };
      loadBox(map, first, { address: 1024, shared: aligned, tensor: { views, at: from } });
      for (let row = 0; row < 5; row++) {
        const bytes = Array.from({ length: 32 }, (_, i) => aligned[swizzled(swizzle, 1024 + 32 * row + i) - 1024]);
        expect(bytes).toEqual([...global.subarray(64 * (row + 1) + 4, 64 * (row + 1) + 36)]);
      }
    },
  );

  test("an interior box has the runs of any other, further on; what reaches beyond the tensor is none", () => {
    for (const [, map] of ranks) {
      if (map.box.mode !== "tiled") throw new Error("not tiled");
      const room = map.globalDim.map((size, d) => size - (map.box.mode === "tiled" ? map.box.size[d]! : 0));
      for (const start of [room.map(() => 0), room, room.map((n) => n >> 1)]) {
        if (room.some((n) => n < 0)) continue;
        const { box, from } = interiorBox(map, tile(start))!;
        const runs = box.runs.map((run) => ({ ...run, from: run.from! + from }));
        expect({ ...box, runs }).toEqual(boxOf(map, tile(start)));
      }
      for (let d = 0; d < room.length; d++) {
        for (const at of [-1, room[d]! + 1]) {
          expect(interiorBox(map, tile(room.map((n, i) => (i === d ? at : Math.max(0, n)))))).toBe(null);
        }
      }
    }
  });

  test("NaNs fill elements of floats", () => {
    const map: TensorMap = { ...plainMap, type: "f32", globalDim: [4, 2], oobFill: "nan" };
    const shared = loaded({ ...map, box: { mode: "tiled", size: [8, 1] } }, tile([2, 0]), memory(256));
    const floats = new Float32Array(shared.buffer);
    expect([...floats].map(Number.isNaN).slice(2)).toEqual([true, true, true, true, true, true]);
    expect(Number.isNaN(floats[0])).toBe(false);
  });
});

describe("gather4 and scatter4", () => {
  const map: TensorMap = { ...plainMap, box: { mode: "tiled", size: [16, 1] } };
  const request: BoxRequest = { mode: "tile::gather4", coordinates: [8, 2, 5, 0, 9], info: [] };

  test("take four rows, of which those outside are filled", () => {
    const global = memory(512);
    const rows = [2, 5, 0].flatMap((row) => [...global.subarray(64 * row + 8, 64 * row + 24)]);
    expect([...loaded(map, request, global)]).toEqual([...rows, ...new Array<number>(16).fill(0)]);
  });

  test("need boxes of one row", () => {
    expect(requestProblem(map, request, 2)).toBeNull();
    expect(requestProblem(plainMap, request, 2)).toContain("boxes of 4 rows");
  });
});

describe("packed elements", () => {
  const base: TensorMap = { ...plainMap, globalDim: [128, 2], elementStrides: [1, 1] };

  test("of 4 bits are copied as they are (.b4x16)", () => {
    const map: TensorMap = { ...base, type: "16u4_align8b", box: { mode: "tiled", size: [32, 2] } };
    const global = memory(128);
    expect([...loaded(map, tile([64, 0]), global)]).toEqual([...global.subarray(32, 48), ...global.subarray(96, 112)]);
    expect(boxOf(map, tile([0, 0]))).toMatchObject({ bytes: 32, transactions: 32 });
  });

  test("of 4 bits get 8 bytes of padding after every 8 (.b4x16_p64)", () => {
    const map: TensorMap = { ...base, type: "16u4_align16b", box: { mode: "tiled", size: [128, 1] } };
    const global = memory(128);
    const shared = loaded(map, tile([0, 1]), global);
    expect(shared).toHaveLength(128);
    for (let group = 0; group < 8; group++) {
      expect(shared.subarray(16 * group, 16 * group + 8)).toEqual(global.subarray(64 + 8 * group, 72 + 8 * group));
    }
    expect(boxOf(map, tile([0, 1])).transactions).toBe(64);
  });

  test("of 6 bits get 4 bytes of padding after every 12 (.b6x16_p32), and lose 2 bits each in a store (.b6p2x16)", () => {
    const map: TensorMap = {
      ...base,
      type: "16u6_align16b",
      globalStrides: [96],
      box: { mode: "tiled", size: [128, 1] },
    };
    const global = memory(192);
    const shared = loaded(map, tile([0, 1]), global);
    for (let group = 0; group < 8; group++) {
      const from = 96 + 12 * group;
      expect(shared.subarray(16 * group, 16 * group + 12)).toEqual(global.subarray(from, from + 12));
    }
    const elements = memory(128);
    const target = new Uint8Array(192);
    const box = boxOf(map, tile([0, 0]));
    storeBox(map, box, places(box, elements, target), null);
    elements.forEach((element, i) => {
      const bits = target[(6 * i) >> 3]! | (target[((6 * i) >> 3) + 1]! << 8);
      expect((bits >> ((6 * i) & 7)) & 63).toBe(element & 63);
    });
  });
});

test("tf32 elements are rounded, ties away from zero", () => {
  const map: TensorMap = { ...plainMap, type: "tf32", globalDim: [4, 1], box: { mode: "tiled", size: [4, 1] } };
  const global = new Uint8Array(Uint32Array.of(0x3f80_1000, 0x3f80_0fff, 0xbf80_1000, 0x7f80_0000).buffer);
  const words = new Uint32Array(loaded(map, tile([0, 0]), global).buffer);
  expect([...words]).toEqual([0x3f80_2000, 0x3f80_0000, 0xbf80_2000, 0x7f80_0000]);
});

describe("interleaved layouts", () => {
  test("NC/8HWC8: slices of 16 bytes follow each other after all pixels of an image", () => {
    // 20 channels of 2 bytes (3 slices), 3 x 2 pixels, 2 images.
    const [channels, width, height, images, slices] = [20, 3, 2, 2, 3];
    const global = memory(16 * width * height * slices * images);
    const map: TensorMap = {
      ...plainMap,
      type: "u16",
      globalDim: [channels, width, height, images],
      globalStrides: [16, 16 * width, 16 * width * height * slices],
      box: { mode: "tiled", size: [16, 2, 2, 2] },
      elementStrides: [1, 1, 1, 1],
      interleave: "16B",
    };
    const expected: number[] = [];
    for (let n = 0; n < 2; n++) {
      for (let slice = 1; slice < 3; slice++) {
        for (let h = 0; h < 2; h++) {
          for (let w = 1; w < 3; w++) {
            for (let c = 8 * slice; c < 8 * slice + 8; c++) {
              const at = 16 * (w + width * (h + height * (slice + slices * n))) + 2 * (c % 8);
              for (let b = 0; b < 2; b++) expected.push(c < channels ? global[at + b]! : 0);
            }
          }
        }
      }
    }
    expect([...loaded(map, tile([8, 1, 0, 0]), global)]).toEqual(expected);
  });
});
