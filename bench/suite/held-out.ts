import * as model from "./held-out-models.ts";
import { dominantMatrices, queenStarts } from "./inputs.ts";
import { type BenchKernel, inPlace, input, int, integers, noise, output, untuned, type UntunedRow } from "./kernel.ts";

// Kernels of the same kinds as the untuned ones, whose code is not looked at while passes are written: only their times
// are (`lanewise bench held-out`).

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
];

/** The benchmarks whose code is not looked at, in the order of their table. */
export const heldOutKernels: readonly BenchKernel[] = rows.map((row) => untuned(row, "held-out"));
