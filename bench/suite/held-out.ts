import * as model from "./held-out-models.ts";
import { dominantMatrices, queenStarts } from "./inputs.ts";
import {
  type BenchKernel,
  inPlace,
  input,
  int,
  integers,
  noise,
  output,
  untuned,
  type UntunedRow,
  zeros,
} from "./kernel.ts";

// Kernels of the same kinds as the untuned ones, and of some more: bytes on a torus, half warps, searches, butterflies,
// compaction, anti-diagonals, sorting networks, random walks. Their compiled code is not looked at while passes are
// written: only their times are (`lanewise bench held-out`).

const rows: readonly UntunedRow[] = [
  {
    name: "key-hash",
    title: "hashes of 64K keys of 24 bytes",
    size: 1 << 16,
    quickSize: 500,
    results: ["hashes"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { keys: input("u8", 24 * n, integers(1)), hashes: output("u32", n) },
      launches: [{ kernel: "key_hash", grid: [Math.ceil(n / 256)], block: [256], args: [int(n), "keys", "hashes"] }],
      sizes: [n],
    }),
    model: model.keyHash,
  },
  {
    name: "tile-lu",
    title: "factors of 4K matrices of 16 by 16, a block of 16 threads each",
    size: 4096,
    quickSize: 4,
    results: ["out"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: {
        in: input("f32", 256 * n, { gen: "list", values: dominantMatrices(n, 16) }),
        out: output("f32", 256 * n),
      },
      launches: [{ kernel: "tile_lu", grid: [n], block: [16], args: ["in", "out"] }],
      sizes: [n],
    }),
    model: model.tileLu,
  },
  {
    name: "elimination",
    title: "Gaussian elimination of 256 unknowns, 510 launches",
    size: 256,
    quickSize: 16,
    results: ["a", "m"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: {
        a: inPlace("f32", n * n, { gen: "list", values: dominantMatrices(1, n) }),
        m: inPlace("f32", n, noise(2, 0, 1)),
      },
      launches: Array.from({ length: n - 1 }, (_, column) =>
        [
          { kernel: "multipliers", grid: [Math.ceil(n / 64)] as const, block: [64] as const },
          { kernel: "eliminate", grid: [Math.ceil(n / 8), Math.ceil(n / 8)] as const, block: [8, 8] as const },
        ].map((launch) => ({ ...launch, args: [int(n), int(column), "a", "m"] })),
      ).flat(),
      sizes: [n],
    }),
    model: model.elimination,
  },
  {
    name: "row-table",
    title: "products of four elements of four arrays, 256K, through a table of pointers",
    size: 1 << 18,
    quickSize: 1000,
    results: ["out"],
    tolerance: 1e-5,
    plan: (n) => {
      const array = (seed: number) => input("f32", 4096, noise(seed, 0, 2));
      return {
        buffers: {
          which: input("s32", 4 * n, integers(1, 4)),
          at: input("s32", 4 * n, integers(2, 4096)),
          a: array(3),
          b: array(4),
          c: array(5),
          d: array(6),
          out: output("f32", n),
        },
        launches: [
          {
            kernel: "row_table",
            grid: [Math.ceil(n / 256)],
            block: [256],
            args: [int(n), "which", "at", "a", "b", "c", "d", "out"],
          },
        ],
        sizes: [n],
      };
    },
    model: model.rowTable,
  },
  {
    name: "queens",
    title: "ways to place queens, from all places of three",
    size: 11,
    quickSize: 6,
    results: ["ways"],
    tolerance: 0,
    plan: (size) => {
      const starts = queenStarts(size);
      const n = starts.length;
      const list = (part: number) => input("u32", n, { gen: "list", values: starts.map((start) => start[part]!) });
      return {
        buffers: { columns: list(0), lefts: list(1), rights: list(2), ways: output("u32", n) },
        launches: [
          {
            kernel: "queens",
            grid: [Math.ceil(n / 64)],
            block: [64],
            args: [int(n), int(size), "columns", "lefts", "rights", "ways"],
          },
        ],
        sizes: [n, size],
      };
    },
    model: model.queens,
  },
  {
    name: "life",
    title: "4 generations of the game of life on 1024 by 1024 bytes whose edges meet",
    size: 1024,
    quickSize: 32,
    results: ["a", "b"],
    tolerance: 0,
    plan: (n) => {
      const generations = 4;
      const launches = Array.from({ length: generations }, (_, step) => ({
        kernel: "life",
        grid: [n / 32, n / 8] as const,
        block: [32, 8] as const,
        args: [int(n), ...(step % 2 === 0 ? ["a", "b"] : ["b", "a"])],
      }));
      return {
        buffers: { a: inPlace("u8", n * n, integers(1, 2)), b: output("u8", n * n) },
        launches,
        sizes: [n, generations],
      };
    },
    model: model.life,
  },
  {
    name: "row-dots",
    title: "dot products of 64K rows of 64 floats, each by half a warp",
    size: 1 << 16,
    quickSize: 20,
    results: ["dots"],
    tolerance: 1e-4,
    plan: (n) => {
      const columns = 64;
      return {
        buffers: {
          a: input("f32", columns * n, noise(1, -1, 1)),
          b: input("f32", columns * n, noise(2, -1, 1)),
          dots: output("f32", n),
        },
        launches: [
          {
            kernel: "row_dots",
            grid: [Math.ceil(n / 8)],
            block: [128],
            args: [int(n), int(columns), "a", "b", "dots"],
          },
        ],
        sizes: [n, columns],
      };
    },
    model: model.rowDots,
  },
  {
    name: "substring",
    title: "where a pattern of 6 letters begins in a text of 4M",
    size: 1 << 22,
    quickSize: 20_000,
    results: ["found"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { text: input("u8", n, integers(1, 4)), found: output("u8", n) },
      launches: [{ kernel: "substring", grid: [Math.ceil(n / 256)], block: [256], args: [int(n), "text", "found"] }],
      sizes: [n],
    }),
    model: model.substring,
  },
  {
    name: "fft",
    title: "Fourier transforms of 256 complex numbers, 1024 of them, one a block",
    size: 1024,
    quickSize: 2,
    results: ["out"],
    tolerance: 1e-3,
    plan: (n) => {
      const twiddles = Array.from({ length: 128 }, (_, k) => (-2 * Math.PI * k) / 256);
      return {
        buffers: {
          in: input("f32", 512 * n, noise(1, -1, 1)),
          twiddles: input("f32", 256, {
            gen: "list",
            values: twiddles.flatMap((angle) => [Math.cos(angle), Math.sin(angle)]),
          }),
          out: output("f32", 512 * n),
        },
        launches: [{ kernel: "fft", grid: [n], block: [128], args: ["in", "twiddles", "out"] }],
        sizes: [n],
      };
    },
    model: model.fft,
  },
  {
    name: "compaction",
    title: "the positive ones of 256K numbers in their order, 3 launches",
    size: 1 << 18,
    quickSize: 600,
    results: ["out", "count"],
    tolerance: 0,
    plan: (n) => {
      const blocks = Math.ceil(n / 256);
      const each = { grid: [blocks] as const, block: [256] as const };
      return {
        buffers: {
          in: input("s32", n, integers(1)),
          place: output("s32", n),
          sums: output("s32", blocks),
          out: inPlace("s32", n, zeros),
          count: output("s32", 1),
        },
        launches: [
          { kernel: "places", ...each, args: [int(n), "in", "place", "sums"] },
          { kernel: "starts", grid: [1], block: [1024], args: [int(blocks), "sums", "count"] },
          { kernel: "scatter", ...each, args: [int(n), "in", "place", "sums", "out"] },
        ],
        sizes: [n],
      };
    },
    model: model.compaction,
  },
  {
    name: "local-alignment",
    title: "best local alignments of 256 pairs of 64 letters, one pair a block",
    size: 256,
    quickSize: 3,
    results: ["best"],
    tolerance: 0,
    plan: (n) => ({
      buffers: {
        a: input("u8", 64 * n, integers(1, 4)),
        b: input("u8", 64 * n, integers(2, 4)),
        best: output("s32", n),
      },
      launches: [{ kernel: "local_alignment", grid: [n], block: [64], args: ["a", "b", "best"] }],
      sizes: [n],
    }),
    model: model.localAlignment,
  },
  {
    name: "median",
    title: "medians of 3 by 3 bytes, 2048 by 2048, clamped at the borders",
    size: 2048,
    quickSize: 32,
    results: ["out"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { in: input("u8", n * n, integers(1, 256)), out: output("u8", n * n) },
      launches: [{ kernel: "median", grid: [n / 32, n / 8], block: [32, 8], args: [int(n), "in", "out"] }],
      sizes: [n],
    }),
    model: model.median,
  },
  {
    name: "random-walks",
    title: "steps of 2K random walks until they leave a band",
    size: 1 << 11,
    quickSize: 100,
    results: ["steps"],
    tolerance: 0,
    plan: (n) => {
      const band = 8;
      return {
        buffers: { seeds: input("u32", n, integers(1)), steps: output("s32", n) },
        launches: [
          {
            kernel: "random_walks",
            grid: [Math.ceil(n / 128)],
            block: [128],
            args: [int(n), int(band), "seeds", "steps"],
          },
        ],
        sizes: [n, band],
      };
    },
    model: model.randomWalks,
  },
];

/** The benchmarks whose code is not looked at, in the order of their table. */
export const heldOutKernels: readonly BenchKernel[] = rows.map((row) => untuned(row, "held-out"));
