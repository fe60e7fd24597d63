import * as model from "./held-out-models.ts";
import { byteRows } from "./held-out-bytes.ts";
import { dominantMatrices, queenStarts, sparseProduct } from "./inputs.ts";
import {
  type BenchKernel,
  float,
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
import { spmv } from "./models.ts";

// Kernels of the same kinds as the untuned ones, and of some more. Nobody looks at their compiled code while passes are
// written: only at their times (`lanewise bench held-out`).

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
    name: "warp-rows",
    title: "sparse matrix of 20K rows of 8 to 103 elements times a vector, a warp for each row",
    size: 20_000,
    quickSize: 100,
    results: ["y"],
    tolerance: 1e-4,
    plan: (rows) => {
      return {
        buffers: sparseProduct(rows, 96),
        launches: [
          {
            kernel: "warp_rows",
            grid: [Math.ceil(rows / 8)],
            block: [256],
            args: [int(rows), "start", "column", "value", "x", "y"],
          },
        ],
        sizes: [rows],
      };
    },
    model: spmv,
  },
  {
    name: "hash-table",
    title: "how often 128K keys occur, by a table that all threads fill",
    size: 1 << 17,
    quickSize: 1 << 9,
    results: ["found"],
    tolerance: 0,
    plan: (n) => {
      const places = 2 * n;
      const launch = (kernel: string, args: readonly string[]) => ({
        ...{ kernel, grid: [n / 256] as const, block: [256] as const },
        args: [int(n), int(places - 1), ...args],
      });
      return {
        buffers: {
          keys: input("u32", n, integers(1, 8 * n)),
          asked: input("u32", n, integers(2, 8 * n)),
          table: inPlace("u32", places, { gen: "list", values: new Array<number>(places).fill(0xffff_ffff) }),
          count: inPlace("u32", places, zeros),
          found: output("u32", n),
        },
        launches: [launch("fill", ["keys", "table", "count"]), launch("look_up", ["asked", "table", "count", "found"])],
        sizes: [n, places - 1],
      };
    },
    model: model.hashTable,
  },
  {
    name: "warp-scan",
    title: "running sums in 4K blocks of 256, of warps and then of their sums",
    size: 4096,
    quickSize: 4,
    results: ["out", "sums"],
    tolerance: 0,
    plan: (n) => ({
      buffers: {
        in: input("s32", 256 * n, integers(1, 1000)),
        out: output("s32", 256 * n),
        sums: output("s32", n),
      },
      launches: [{ kernel: "warp_scan", grid: [n], block: [256], args: ["in", "out", "sums"] }],
      sizes: [n],
    }),
    model: model.warpScan,
  },
  {
    name: "plane-queue",
    title: "a point and its six neighbours in 128 by 128 by 48, of which blocks keep a plane",
    size: 48,
    quickSize: 4,
    results: ["out"],
    tolerance: 1e-5,
    plan: (nz) => {
      const side = 128;
      const weights = [0.5, 0.1] as const;
      const n = side * side * nz;
      return {
        buffers: { in: input("f32", n, noise(1, 0, 1)), out: inPlace("f32", n, zeros) },
        launches: [
          {
            kernel: "plane_queue",
            grid: [side / 32, side / 8],
            block: [32, 8],
            args: [int(side), int(side), int(nz), "in", "out", ...weights.map(float)],
          },
        ],
        sizes: [side, side, nz, ...weights],
      };
    },
    model: model.planeQueue,
  },
  {
    name: "frontier",
    title: "breadth-first search of 100K nodes with 4 edges each, 24 launches",
    size: 100_000,
    quickSize: 200,
    results: ["level"],
    tolerance: 0,
    plan: (n) => {
      const levels = 12;
      const first = (value: number, others: number) =>
        ({ gen: "list", values: Array.from({ length: n }, (_, i) => (i === 0 ? value : others)) }) as const;
      return {
        buffers: {
          start: input("s32", n + 1, { gen: "list", values: Array.from({ length: n + 1 }, (_, i) => 4 * i) }),
          edge: input("s32", 4 * n, integers(1, n)),
          frontier: inPlace("u8", n, first(1, 0)),
          next: inPlace("u8", n, zeros),
          level: inPlace("s32", n, first(0, -1)),
        },
        launches: Array.from({ length: levels }, (_, depth) => {
          const shape = { grid: [Math.ceil(n / 256)] as const, block: [256] as const };
          return [
            { kernel: "visit", ...shape, args: [int(n), "start", "edge", "frontier", "next", "level"] },
            { kernel: "advance", ...shape, args: [int(n), int(depth + 1), "frontier", "next", "level"] },
          ];
        }).flat(),
        sizes: [n, levels],
      };
    },
    model: model.frontier,
  },
  {
    name: "fourier",
    title: "Fourier transforms of 500 rows of 256 complex numbers in shared memory",
    size: 500,
    quickSize: 4,
    results: ["out"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: { in: input("f32", 512 * n, noise(1, -1, 1)), out: output("f32", 512 * n) },
      launches: [{ kernel: "fourier", grid: [n], block: [128], args: ["in", "out"] }],
      sizes: [n],
    }),
    model: model.fourier,
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
export const heldOutKernels: readonly BenchKernel[] = [...rows, ...byteRows].map((row) => untuned(row, "held-out"));
