import { expect, test } from "vitest";
import { boxOf } from "../../../src/program/tensor/box.ts";
import { loadBox } from "../../../src/program/tensor/box-copy.ts";
import { pixelsOf } from "../../../src/program/tensor/im2col.ts";
import type { TensorMap } from "../../../src/program/tensor/tensor-map.ts";
import { plainMap } from "./maps.ts";

interface Convolution {
  readonly size: readonly [w: number, h: number, n: number];
  readonly filter: readonly [r: number, s: number];
  readonly pad: number;
  readonly stride: number;
}

const channels = 4;

/**
 * The column of output pixels from `first` on that an im2col for the filter element (r, s) has, by the textbook: the
 * input pixel of output (p, q) is (p * stride - pad + r, q * stride - pad + s), and 0 in the padding.
 */
function column({ size: [w, h, n], filter, pad, stride }: Convolution, image: Int32Array, at: readonly number[]) {
  const [q0, p0, n0, r, s] = at as [number, number, number, number, number];
  const outputs = (length: number, taps: number): number => Math.floor((length + 2 * pad - taps) / stride) + 1;
  const [ow, oh] = [outputs(w, filter[0]), outputs(h, filter[1])];
  return (pixels: number): number[] => {
    const out: number[] = [];
    const first = q0 + ow * (p0 + oh * n0);
    for (let i = first; i < first + pixels; i++) {
      const x = (i % ow) * stride - pad + r;
      const y = (Math.floor(i / ow) % oh) * stride - pad + s;
      const image0 = Math.floor(i / (ow * oh));
      const inside = x >= 0 && x < w && y >= 0 && y < h && image0 < n;
      for (let c = 0; c < channels; c++) out.push(inside ? image[c + channels * (x + w * (y + h * image0))]! : 0);
    }
    return out;
  };
}

const convolutions: readonly Convolution[] = [
  { size: [6, 5, 2], filter: [3, 3], pad: 1, stride: 1 },
  { size: [9, 7, 2], filter: [3, 3], pad: 1, stride: 2 },
  { size: [7, 7, 3], filter: [1, 1], pad: 0, stride: 1 },
  { size: [8, 8, 2], filter: [2, 2], pad: 0, stride: 2 },
];

test.each(convolutions)("im2col gives the columns of a convolution: %o", (convolution) => {
  const { size, filter, pad, stride } = convolution;
  const [w, h, n] = size;
  const image = Int32Array.from({ length: channels * w * h * n }, (_, i) => 3 * i + 1);
  const map: TensorMap = {
    ...plainMap,
    type: "s32",
    globalDim: [channels, w, h, n],
    globalStrides: [16, 16 * w, 16 * w * h],
    box: {
      mode: "im2col",
      lowerCorner: [-pad, -pad],
      upperCorner: [pad - filter[0] + 1, pad - filter[1] + 1],
      channels,
      pixels: 24,
    },
    elementStrides: [1, stride, stride, 1],
  };
  const bytes = new Uint8Array(image.buffer);
  for (const [q, p] of [
    [0, 0],
    [2, 1],
  ] as const) {
    for (let r = 0; r < filter[0]; r++) {
      for (let s = 0; s < filter[1]; s++) {
        const shared = new Uint8Array(24 * 16);
        const coordinates = [0, q * stride - pad, p * stride - pad, 0];
        const box = boxOf(map, { mode: "im2col", coordinates, info: [r, s] });
        const views = { u8: bytes, i32: new Int32Array(bytes.buffer) };
        const tensor = box.runs.map(({ from }) => (from === null ? null : { views, at: from }));
        loadBox(map, box, { address: 0, shared, tensor });
        expect([...new Int32Array(shared.buffer)]).toEqual(column(convolution, image, [q, p, 0, r, s])(24));
      }
    }
  }
});

const wide: TensorMap = {
  ...plainMap,
  globalDim: [64, 9, 7, 64],
  globalStrides: [64, 576, 4032],
  elementStrides: [1, 1, 1, 1],
};

test("im2col::w: rows of W, then the next image, and the halo to the right of the last pixel", () => {
  const box = { mode: "im2col::w", lowerCorner: [0], upperCorner: [0], channels: 64, pixels: 8 } as const;
  const pixels = pixelsOf({ ...wide, box }, box, { mode: "im2col::w", coordinates: [0, 3, 2, 7], info: [2, 0] });
  expect(pixels.map(([w, , n]) => [w, n])).toEqual([
    ...[3, 4, 5, 6, 7, 8].map((w) => [w, 7]),
    [0, 8],
    [1, 8],
    [2, 8],
    [3, 8],
  ]);
  expect(pixels.every(([, h]) => h === 2)).toBe(true);
});

test("im2col::w::128: 128 pixels, and a halo after every 32", () => {
  const box = { mode: "im2col::w", lowerCorner: [0], upperCorner: [0], channels: 64, pixels: 8 } as const;
  const pixels = pixelsOf({ ...wide, box }, box, { mode: "im2col::w::128", coordinates: [0, 0, 2, 7], info: [2, 0] });
  expect(pixels).toHaveLength(128 + 4 * 2);
  expect(pixels[32]![0]).toBe(pixels[31]![0]! + 1);
});

test("im2col::w: the offset moves the pixels and the box (section 5.5.5.4, example 2)", () => {
  const box = { mode: "im2col::w", lowerCorner: [-1], upperCorner: [-1], channels: 64, pixels: 4 } as const;
  const map: TensorMap = { ...wide, globalDim: [64, 7, 7, 64], elementStrides: [1, 3, 1, 1], box };
  const columns = [0, 1, 2].map((offset) =>
    pixelsOf(map, box, { mode: "im2col::w", coordinates: [0, -1, 2, 7], info: [0, offset] }).map(([w]) => w),
  );
  expect(columns).toEqual([
    [-1, 2, 5, -1],
    [0, 3, 6, 0],
    [1, 4, 7, 1],
  ]);
});
