import { expect, test } from "vitest";
import { chunkAddress, layoutOf, type SharedMatrixLayout, type SwizzleWidth, windows } from "../../src/ir/index.ts";

/*
 * Section 9.7.15.5.1.2.1.3 gives layouts in CuTe's notation: a shape and strides of the same form, both nested, in
 * elements, and Swizzle<B, 4, 3> for the bytes. A coordinate is split into those of the parts, the first part fastest.
 */
type Nested = number | readonly Nested[];

const sizeOf = (shape: Nested): number =>
  typeof shape === "number" ? shape : shape.reduce((n: number, s) => n * sizeOf(s), 1);

function place(shape: Nested, stride: Nested, coordinate: number): number {
  if (typeof shape === "number") return coordinate * (stride as number);
  let rest = coordinate;
  return shape.reduce((sum: number, part, i) => {
    const size = sizeOf(part);
    const own = i === shape.length - 1 ? rest : rest % size;
    rest = Math.floor(rest / size);
    return sum + place(part, (stride as readonly Nested[])[i]!, own);
  }, 0);
}

/** Swizzle<B, 4, 3>: bits 4 to 4 + B - 1 are combined with those three places above. */
const swizzle = (b: number, address: number): number => address ^ ((address & (((1 << b) - 1) << 7)) >> 3);

/** The byte of an element, from a layout of the whole matrix in chunks. */
function byteOf(layout: SharedMatrixLayout, kMajor: boolean, bytes: number, mn: number, k: number): number {
  const perChunk = 16 / bytes;
  const [line, along] = kMajor ? [mn, k] : [k, mn];
  return chunkAddress(layout, kMajor, line, Math.floor(along / perChunk)) + (along % perChunk) * bytes;
}

const swizzleBits: Readonly<Record<SwizzleWidth, number>> = { 16: 0, 32: 1, 64: 2, 128: 3 };
const start = 0x4000;

interface Example {
  readonly name: string;
  readonly kMajor: boolean;
  readonly width: SwizzleWidth;
  readonly bytes: number;
  readonly leading: number;
  readonly stride: number;
  readonly shape: readonly [mn: Nested, k: Nested];
  readonly strides: readonly [mn: Nested, k: Nested];
}

/** Figures 166 to 170 of the manual, with their "exact layout" and the strides that it lists. */
const figures: readonly Example[] = [
  {
    name: "figure 166: K-major, none, tf32",
    kMajor: true,
    width: 16,
    bytes: 4,
    leading: 64 * 4,
    stride: 32 * 4,
    shape: [
      [8, 2],
      [4, 4],
    ],
    strides: [
      [4, 32],
      [1, 64],
    ],
  },
  {
    name: "figure 167: K-major, 32 bytes, tf32",
    kMajor: true,
    width: 32,
    bytes: 4,
    leading: 16,
    stride: 64 * 4,
    // The manual prints ((8,2),(4,4)), of which 32 bytes hold the first half along k.
    shape: [
      [8, 2],
      [4, 2],
    ],
    strides: [
      [8, 64],
      [1, 4],
    ],
  },
  {
    name: "figure 168: MN-major, none, bf16",
    kMajor: false,
    width: 16,
    bytes: 2,
    leading: 128 * 2,
    stride: 64 * 2,
    shape: [
      [8, 1, 2],
      [8, 2],
    ],
    strides: [
      [1, 8, 64],
      [8, 128],
    ],
  },
  {
    name: "figure 169: MN-major, 32 bytes, bf16",
    kMajor: false,
    width: 32,
    bytes: 2,
    leading: 128 * 2,
    stride: 256 * 2,
    shape: [
      [8, 2, 2],
      [8, 2],
    ],
    strides: [
      [1, 8, 128],
      [16, 256],
    ],
  },
  {
    name: "figure 170: MN-major, 64 bytes, bf16",
    kMajor: false,
    width: 64,
    bytes: 2,
    leading: 256 * 2,
    stride: 512 * 2,
    shape: [
      [8, 4, 2],
      [8, 2],
    ],
    strides: [
      [1, 8, 256],
      [32, 512],
    ],
  },
];

/** The canonical layouts of the table, for elements of each size, with strides that leave gaps. */
const canonical: readonly Example[] = [1, 2, 4].flatMap((bytes) =>
  ([16, 32, 64, 128] as const).flatMap((width): Example[] => {
    const t = 16 / bytes;
    const w = width / 16;
    const [leading, stride] = [3 * 1024, 5 * 1024];
    const [lbo, sbo] = [leading / bytes, stride / bytes];
    const common = { width, bytes, leading, stride };
    return [
      {
        ...common,
        name: `K-major, ${width} bytes, elements of ${bytes}`,
        kMajor: true,
        shape: [
          [8, 3],
          [t, width === 16 ? 4 : w],
        ],
        strides: [
          [w * t, sbo],
          [1, width === 16 ? lbo : t],
        ],
      },
      {
        ...common,
        name: `MN-major, ${width} bytes, elements of ${bytes}`,
        kMajor: false,
        shape: [
          [t, w, 3],
          [8, 2],
        ],
        strides: [
          [1, t, width === 16 ? sbo : lbo],
          [w * t, width === 16 ? lbo : sbo],
        ],
      },
    ];
  }),
);

test.each([...figures, ...canonical])("$name", ({ kMajor, width, bytes, leading, stride, shape, strides }) => {
  const layout = { start, leading, stride, width, baseOffset: 0 };
  for (let mn = 0; mn < sizeOf(shape[0]); mn++) {
    for (let k = 0; k < sizeOf(shape[1]); k++) {
      const linear = start + bytes * (place(shape[0], strides[0], mn) + place(shape[1], strides[1], k));
      expect(byteOf(layout, kMajor, bytes, mn, k)).toBe(swizzle(swizzleBits[width], linear));
    }
  }
});

test("a step along k within the swizzle's width begins in the middle of a row", () => {
  const layout = { start, leading: 16, stride: 1024, width: 128, baseOffset: 0 } as const;
  const later = { ...layout, start: start + 32 };
  for (let row = 0; row < 64; row++) expect(chunkAddress(later, true, row, 0)).toBe(chunkAddress(layout, true, row, 2));
});

test("the base offset says where the pattern begins", () => {
  // "base offset = (pattern start addr >> 0x7) & 0x7"
  const from = start + 3 * 128;
  const moved = { start: from, leading: 16, stride: 1024, width: 128, baseOffset: (from >> 7) & 7 } as const;
  const aligned = { ...moved, start, baseOffset: 0 };
  for (let row = 0; row < 16; row++)
    for (let chunk = 0; chunk < 8; chunk++)
      expect(chunkAddress(moved, true, row, chunk) - from).toBe(chunkAddress(aligned, true, row, chunk) - start);
});

test("the fields of a descriptor", () => {
  // 13-0, 29-16, 45-32, 51-49, 63-62; encoded as (x & 0x3FFFF) >> 4.
  const encode = (x: number): bigint => BigInt((x & 0x3ffff) >> 4);
  const word = encode(0x12340) | (encode(0x3fff0) << 16n) | (encode(0x20) << 32n) | (5n << 49n) | (2n << 62n);
  const [low, high] = [Number(BigInt.asIntN(32, word)), Number(BigInt.asIntN(32, word >> 32n))];
  expect(layoutOf(low, high)).toEqual({ start: 0x12340, leading: 0x3fff0, stride: 0x20, width: 64, baseOffset: 5 });
  expect([0n, 1n, 2n, 3n].map((mode) => layoutOf(0, Number(BigInt.asIntN(32, mode << 30n))).width)).toEqual([
    16, 128, 64, 32,
  ]);
});

test("an address of shared memory in a descriptor, cut to 18 bits or not", () => {
  const address = windows.shared.start + 0x2340;
  const [leading, stride] = [128, 256];
  const fields = ((leading >> 4) << 16) >>> 0;
  const expected = { start: 0x2340, leading, stride, width: 16, baseOffset: 0 };
  const of = (word: number) => layoutOf(word | 0, stride >> 4);
  expect(of((((address & 0x3ffff) >>> 4) | fields) >>> 0)).toEqual(expected);
  expect(of(((address >>> 4) | fields) >>> 0)).toEqual(expected);
  expect(of((address >>> 4) + fields)).toEqual(expected);
});
