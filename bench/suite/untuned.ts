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
import * as model from "./untuned-models.ts";

// Kernels as an application programmer writes them, for which the compiler was not tuned: halos, wavefronts, clamps,
// masks, state across barriers, small blocks, bytes, pointers that data chooses, many launches. They are measured
// apart from the others (`lanewise bench untuned`).

const rows: readonly UntunedRow[] = [
  {
    name: "two-halos",
    title: "correlation of two rows of 1M floats, each with a halo in shared memory",
    size: 1 << 20,
    quickSize: 1024,
    results: ["out"],
    tolerance: 1e-4,
    plan: (n) => ({
      buffers: {
        u: input("f32", n, noise(1, -1, 1)),
        v: input("f32", n, noise(2, -1, 1)),
        out: output("f32", n),
      },
      launches: [{ kernel: "two_halos", grid: [n / 256], block: [256], args: [int(n), "u", "v", "out"] }],
      sizes: [n],
    }),
    model: model.twoHalos,
  },
  {
    name: "wavefront",
    title: "alignment of two texts of 1024 letters, 127 launches",
    size: 1024,
    quickSize: 64,
    results: ["score"],
    tolerance: 0,
    plan: (n) => {
      const tiles = n / 16;
      const launches = Array.from({ length: 2 * tiles - 1 }, (_, diagonal) => {
        const first = Math.max(0, diagonal - tiles + 1);
        const count = Math.min(diagonal, tiles - 1) - first + 1;
        const args = [int(n), int(diagonal), int(first), "a", "b", "score"];
        return { kernel: "wavefront", grid: [count] as const, block: [16] as const, args };
      });
      return {
        buffers: {
          a: input("s32", n, integers(1, 4)),
          b: input("s32", n, integers(2, 4)),
          score: inPlace("s32", (n + 1) ** 2, zeros),
        },
        launches,
        sizes: [n],
      };
    },
    model: model.wavefront,
  },
  {
    name: "clamped-blur",
    title: "mean of 25 pixels with clamped coordinates, 1024² floats",
    size: 1024,
    quickSize: 32,
    results: ["out"],
    tolerance: 1e-5,
    plan: (n) => ({
      buffers: { in: input("f32", n * n, noise(1, 0, 1)), out: output("f32", n * n) },
      launches: [{ kernel: "clamped_blur", grid: [n / 32, n / 8], block: [32, 8], args: [int(n), "in", "out"] }],
      sizes: [n],
    }),
    model: model.clampedBlur,
  },
  {
    name: "ring-filter",
    title: "16 taps over a ring of 1M floats",
    size: 1 << 20,
    quickSize: 1024,
    results: ["y"],
    tolerance: 1e-4,
    plan: (n) => ({
      buffers: {
        x: input("f32", n, noise(1, -1, 1)),
        taps: input("f32", 16, noise(2, -1, 1)),
        y: output("f32", n),
      },
      launches: [{ kernel: "ring_filter", grid: [n / 256], block: [256], args: [int(n), "x", "taps", "y"] }],
      sizes: [n],
    }),
    model: model.ringFilter,
  },
  {
    name: "lattice",
    title: "values of 256 options by lattices of 512 nodes",
    size: 256,
    quickSize: 2,
    results: ["value"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: { price: input("f32", n, noise(1, 1, 20)), value: output("f32", n) },
      launches: [
        {
          kernel: "lattice",
          grid: [n],
          block: [128],
          args: [float(0.5), float(0.4990234375), float(0.0625), "price", "value"],
        },
      ],
      sizes: [n, 0.5, 0.4990234375, 0.0625],
    }),
    model: model.lattice,
  },
  {
    name: "small-blocks",
    title: "Hadamard transforms of 64K tiles of 4 by 4, a block each",
    size: 1024,
    quickSize: 16,
    results: ["out"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { in: input("s32", n * n, integers(1, 256)), out: output("s32", n * n) },
      launches: [{ kernel: "small_blocks", grid: [n / 4, n / 4], block: [4, 4], args: [int(n), "in", "out"] }],
      sizes: [n],
    }),
    model: model.smallBlocks,
  },
  {
    name: "row-sums",
    title: "sums of 64K rows of 16, by shuffles in blocks 16 wide",
    size: 1 << 16,
    quickSize: 64,
    results: ["sums"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { in: input("u32", 16 * n, integers(1)), sums: output("u32", n) },
      launches: [{ kernel: "row_sums", grid: [n / 16], block: [16, 16], args: ["in", "sums"] }],
      sizes: [n],
    }),
    model: model.rowSums,
  },
  {
    name: "luminance",
    title: "brightness of 1M pixels of three bytes",
    size: 1 << 20,
    quickSize: 1000,
    results: ["grey"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { rgb: input("u8", 3 * n, integers(1)), grey: output("u8", n) },
      launches: [{ kernel: "luminance", grid: [Math.ceil(n / 256)], block: [256], args: [int(n), "rgb", "grey"] }],
      sizes: [n],
    }),
    model: model.luminance,
  },
  {
    name: "chosen-pointer",
    title: "elements of one of two arrays, as the data says, 1M",
    size: 1 << 20,
    quickSize: 1024,
    results: ["out"],
    tolerance: 1e-6,
    plan: (n) => ({
      buffers: {
        choice: input("s32", n, integers(1, 2)),
        a: input("f32", n, noise(2, -1, 1)),
        b: input("f32", n, noise(3, -1, 1)),
        out: output("f32", n),
      },
      launches: [{ kernel: "chosen_pointer", grid: [n / 256], block: [256], args: ["choice", "a", "b", "out"] }],
      sizes: [n],
    }),
    model: model.chosenPointer,
  },
  {
    name: "relaxation",
    title: "500 steps of 4096 points, a launch each",
    size: 4096,
    quickSize: 512,
    results: ["a", "b"],
    tolerance: 1e-5,
    plan: (n) => ({
      buffers: { a: inPlace("f32", n, noise(1, 0, 1)), b: inPlace("f32", n, noise(1, 0, 1)) },
      launches: Array.from({ length: 500 }, (_, step) => ({
        kernel: "relaxation",
        grid: [n / 256] as const,
        block: [256] as const,
        args: [int(n), step % 2 === 0 ? "a" : "b", step % 2 === 0 ? "b" : "a"],
      })),
      sizes: [n, 500],
    }),
    model: model.relaxation,
  },
  {
    name: "warp-tree",
    title: "sums of 4K runs of 512, the last warp without barriers",
    size: 4096,
    quickSize: 4,
    results: ["sums"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { in: input("u32", 512 * n, integers(1)), sums: output("u32", n) },
      launches: [{ kernel: "warp_tree", grid: [n], block: [256], args: ["in", "sums"] }],
      sizes: [n],
    }),
    model: model.warpTree,
  },
  {
    name: "padded-scan",
    title: "prefix sums of 2K runs of 512, through padded trees",
    size: 2048,
    quickSize: 4,
    results: ["out"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { in: input("u32", 512 * n, integers(1, 1000)), out: output("u32", 512 * n) },
      launches: [{ kernel: "padded_scan", grid: [n], block: [256], args: ["in", "out"] }],
      sizes: [n],
    }),
    model: model.paddedScan,
  },
  {
    name: "ghost-zone",
    title: "two steps of diffusion at once on 1024² floats, in tiles of 16² that overlap",
    size: 1024,
    quickSize: 40,
    results: ["out"],
    tolerance: 1e-5,
    plan: (n) => {
      const tiles = Math.ceil(n / 12);
      return {
        buffers: { in: input("f32", n * n, noise(1, 0, 1)), out: output("f32", n * n) },
        launches: [
          { kernel: "ghost_zone", grid: [tiles, tiles], block: [16, 16], args: [int(n), float(0.125), "in", "out"] },
        ],
        sizes: [n, 0.125],
      };
    },
    model: model.ghostZone,
  },
  {
    name: "residual",
    title: "a step of Jacobi's method on 1024² floats, with the sum of its changes",
    size: 1024,
    quickSize: 32,
    results: ["out", "sums"],
    tolerance: 1e-4,
    plan: (n) => ({
      buffers: {
        in: input("f32", n * n, noise(1, 0, 1)),
        out: output("f32", n * n),
        sums: output("f32", (n / 16) ** 2),
      },
      launches: [{ kernel: "residual", grid: [n / 16, n / 16], block: [16, 16], args: [int(n), "in", "out", "sums"] }],
      sizes: [n],
    }),
    model: model.residual,
  },
  {
    name: "early-exercise",
    title: "values of 256 options that may be exercised early, by trees of 255 steps",
    size: 256,
    quickSize: 2,
    results: ["value"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: {
        price: input("f32", n, noise(1, 50, 150)),
        strike: input("f32", n, noise(2, 50, 150)),
        value: output("f32", n),
      },
      launches: [
        {
          kernel: "early_exercise",
          grid: [n],
          block: [256],
          args: [int(255), float(0.5), float(0.4990234375), float(0.0625), "price", "strike", "value"],
        },
      ],
      sizes: [n, 255, 0.5, 0.4990234375, 0.0625],
    }),
    model: model.earlyExercise,
  },
  {
    name: "walsh",
    title: "Walsh transforms of 2K runs of 512",
    size: 2048,
    quickSize: 4,
    results: ["out"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: { in: input("f32", 512 * n, noise(1, -1, 1)), out: output("f32", 512 * n) },
      launches: [{ kernel: "walsh", grid: [n], block: [256], shared: 2048, args: [int(512), "in", "out"] }],
      sizes: [n],
    }),
    model: model.walsh,
  },
  {
    name: "cheapest-path",
    title: "the cheapest paths down 128 rows of 64K columns, eight rows a launch",
    size: 1 << 16,
    quickSize: 512,
    results: ["a", "b"],
    tolerance: 0,
    plan: (n) => ({
      buffers: {
        cost: input("s32", 128 * n, integers(1, 10)),
        a: inPlace("s32", n, integers(2, 10)),
        b: inPlace("s32", n, zeros),
      },
      launches: Array.from({ length: 16 }, (_, step) => ({
        kernel: "cheapest_path",
        grid: [Math.ceil(n / 240)] as const,
        block: [256] as const,
        args: [int(n), int(8 * step), "cost", step % 2 === 0 ? "a" : "b", step % 2 === 0 ? "b" : "a"],
      })),
      sizes: [n],
    }),
    model: model.cheapestPath,
  },
];

/** The benchmarks that are measured apart, in the order of their table. */
export const untunedKernels: readonly BenchKernel[] = rows.map((row) => untuned(row, "untuned"));
