import { coherentSelectors, sparseProduct } from "./inputs.ts";
import {
  type BenchBuffer,
  type BenchKernel,
  type BenchPlan,
  double,
  float,
  inPlace,
  input,
  int,
  integers,
  noise,
  output,
  zeros,
} from "./kernel.ts";
import * as model from "./models.ts";
import { heldOutKernels } from "./held-out.ts";
import { untunedKernels } from "./untuned.ts";

const blocks = (threads: number, block: number): readonly [number] => [Math.ceil(threads / block)];

/** The number of blocks that cover a square of threads. */
const tiles = (side: number, x: number, y: number): readonly [number, number] => [
  Math.ceil(side / x),
  Math.ceil(side / y),
];

/**
 * The number of blocks of a grid whose threads stride through their input: enough for a GPU, but fewer than one thread
 * per element.
 */
const strided = (threads: number): readonly [number] => [Math.min(1024, Math.ceil(threads / 256))];

/** A benchmark, without the fields that have the usual values. */
type Row = Omit<BenchKernel, keyof typeof usual> & Partial<BenchKernel>;

const usual = { group: "usual", file: "", tuned: false, opencl: true, tolerance: 0 } as const;

const matmul = (name: string, kernel: string, title: string, size: number): Row => ({
  name,
  title,
  size,
  quickSize: 32,
  results: ["C"],
  tolerance: 1e-4,
  plan: (n) => ({
    buffers: {
      A: input("f32", n * n, noise(1, -1, 1)),
      B: input("f32", n * n, noise(2, -1, 1)),
      C: output("f32", n * n),
    },
    launches: [{ kernel, grid: tiles(n, 16, 16), block: [16, 16], args: [int(n), "A", "B", "C"] }],
    sizes: [n],
  }),
  model: model.matmul,
});

/** How a product of matrices on tensor cores is launched, given the number of rows. */
type ProductLaunch = (n: number) => BenchPlan["launches"][number];

const byThreads = (kernel: string): ProductLaunch => {
  return (n) => ({ kernel, grid: tiles(n, 128, 128), block: [256], args: [int(n), "A", "B", "C"] });
};

/** Tiles of 128 rows and 64 elements of k, of A and of B, in three stages. */
const byTma: ProductLaunch = (n) => ({
  kernel: "wgmma_f16",
  grid: tiles(n, 128, 128),
  block: [384],
  shared: 3 * 2 * 128 * 64 * 2,
  args: [int(n), ...["A", "B"].map((matrix) => ({ matrix, side: n, box: [64, 128] as const })), "C"],
});

/** A product of matrices on tensor cores, B by columns. */
const mma = (
  name: string,
  launch: ProductLaunch,
  title: string,
  type: BenchBuffer["type"],
  to: "f32" | "s32",
): Row => ({
  name,
  title,
  size: 512,
  quickSize: 128,
  opencl: false,
  results: ["C"],
  tolerance: to === "f32" ? 1e-4 : 0,
  plan: (n) => ({
    buffers: {
      A: input(type, n * n, type === "f16" ? noise(1, -1, 1) : integers(1)),
      B: input(type, n * n, type === "f16" ? noise(2, -1, 1) : integers(2)),
      C: output(to, n * n),
    },
    launches: [launch(n)],
    sizes: [n],
  }),
  model: model.matmulByColumns,
});

const indirect = (name: string, title: string, selectors: (n: number) => BenchBuffer): Row => ({
  name,
  title,
  file: "indirect",
  size: 1 << 20,
  quickSize: 1024,
  opencl: false,
  results: ["out"],
  plan: (n) => ({
    buffers: {
      selector: selectors(n),
      x: input("u32", n, integers(1)),
      y: input("u32", n, integers(2)),
      out: output("u32", n),
    },
    launches: [{ kernel: "indirect", grid: blocks(n, 256), block: [256], args: [int(n), "selector", "x", "y", "out"] }],
    sizes: [n],
  }),
  model: model.indirect,
});

const rows: readonly Row[] = [
  {
    name: "saxpy",
    title: "y = a x + y, 1M floats",
    size: 1 << 20,
    quickSize: 4096,
    results: ["y"],
    tolerance: 1e-6,
    plan: (n) => ({
      buffers: { x: input("f32", n, noise(1, -1, 1)), y: inPlace("f32", n, noise(2, -1, 1)) },
      launches: [{ kernel: "saxpy", grid: blocks(n, 256), block: [256], args: [int(n), float(2.5), "x", "y"] }],
      sizes: [n, 2.5],
    }),
    model: model.saxpy,
  },
  {
    name: "copy",
    title: "STREAM copy, 4M doubles",
    size: 1 << 22,
    quickSize: 4096,
    results: ["c"],
    plan: (n) => ({
      buffers: { a: input("f64", n, noise(1, -1, 1)), c: output("f64", n) },
      launches: [{ kernel: "copy", grid: blocks(n, 256), block: [256], args: [int(n), "a", "c"] }],
      sizes: [n],
    }),
    model: ({ a }) => ({ c: a! }),
  },
  {
    name: "triad",
    title: "STREAM triad, 4M doubles",
    size: 1 << 22,
    quickSize: 4096,
    results: ["a"],
    tolerance: 1e-15,
    plan: (n) => ({
      buffers: {
        b: input("f64", n, noise(1, -1, 1)),
        c: input("f64", n, noise(2, -1, 1)),
        a: output("f64", n),
      },
      launches: [{ kernel: "triad", grid: blocks(n, 256), block: [256], args: [int(n), double(3), "b", "c", "a"] }],
      sizes: [n, 3],
    }),
    model: model.triad,
  },
  { ...matmul("matmul-tiled", "matmul_tiled", "matrix product 512², tiles in shared memory", 512), tuned: true },
  matmul("matmul-naive", "matmul_naive", "matrix product 256² out of global memory", 256),
  mma("mma-f16", byThreads("mma_f16"), "matrix product 512² of halves by mma, ldmatrix and cp.async", "f16", "f32"),
  mma("mma-s8", byThreads("mma_s8"), "matrix product 512² of bytes by mma, ldmatrix and cp.async", "s8", "s32"),
  mma("wgmma-f16", byTma, "matrix product 512² of halves by wgmma, TMA and mbarriers", "f16", "f32"),
  {
    name: "attention",
    title: "attention of 1024 queries and keys of 64 halves, by mma",
    size: 1024,
    quickSize: 64,
    opencl: false,
    results: ["O"],
    tolerance: 2e-3,
    plan: (n) => ({
      buffers: {
        Q: input("f16", n * 64, noise(1, -1, 1)),
        K: input("f16", n * 64, noise(2, -1, 1)),
        V: input("f16", n * 64, noise(3, -1, 1)),
        O: output("f32", n * 64),
      },
      launches: [{ kernel: "attention", grid: blocks(n, 64), block: [128], args: [int(n), "Q", "K", "V", "O"] }],
      sizes: [n],
    }),
    model: model.attention,
  },
  {
    name: "transpose",
    title: "transpose 2048² floats through padded tiles",
    size: 2048,
    quickSize: 64,
    results: ["out"],
    plan: (n) => ({
      buffers: { in: input("f32", n * n, noise(1, -1, 1)), out: output("f32", n * n) },
      launches: [{ kernel: "transpose", grid: tiles(n, 32, 32), block: [32, 8], args: [int(n), "in", "out"] }],
      sizes: [n],
    }),
    model: model.transpose,
  },
  {
    name: "stencil",
    title: "five-point stencil, 2048² floats",
    size: 2048,
    quickSize: 64,
    results: ["out"],
    tolerance: 1e-6,
    plan: (n) => ({
      buffers: { in: input("f32", n * n, noise(1, 0, 1)), out: output("f32", n * n) },
      launches: [{ kernel: "stencil", grid: tiles(n, 32, 8), block: [32, 8], args: [int(n), "in", "out"] }],
      sizes: [n],
    }),
    model: model.stencil,
  },
  {
    name: "texture-blur",
    title: "four bilinear samples of a texture, 1024² floats",
    size: 1024,
    quickSize: 32,
    opencl: false,
    results: ["out"],
    tolerance: 1e-6,
    plan: (n) => ({
      buffers: { in: input("f32", n * n, noise(1, 0, 1)), out: output("f32", n * n) },
      launches: [
        {
          kernel: "texture_blur",
          grid: tiles(n, 32, 8),
          block: [32, 8],
          args: [{ texture: "in", width: n }, "out", int(n)],
        },
      ],
      sizes: [n],
    }),
    model: model.textureBlur,
  },
  {
    name: "mandelbrot",
    title: "escape times 512², 256 iterations",
    size: 512,
    quickSize: 32,
    results: ["out"],
    plan: (n) => ({
      buffers: { out: output("s32", n * n) },
      launches: [
        {
          kernel: "mandelbrot",
          grid: tiles(n, 16, 8),
          block: [16, 8],
          args: [int(n), float(-2.25), float(-1.5), float(3 / n), int(256), "out"],
        },
      ],
      sizes: [n, -2.25, -1.5, 3 / n, 256],
    }),
    model: model.mandelbrot,
  },
  {
    name: "nbody",
    title: "one step of 4096 bodies, all pairs",
    size: 4096,
    quickSize: 256,
    results: ["newPosition", "newVelocity"],
    tolerance: 1e-3,
    plan: (n) => ({
      buffers: {
        position: input("f32", 4 * n, noise(1, 0, 1)),
        velocity: input("f32", 4 * n, noise(2, -1, 1)),
        newPosition: output("f32", 4 * n),
        newVelocity: output("f32", 4 * n),
      },
      launches: [
        {
          kernel: "nbody",
          grid: blocks(n, 256),
          block: [256],
          args: [int(n), float(1 / 1024), float(1 / 128), "position", "velocity", "newPosition", "newVelocity"],
        },
      ],
      sizes: [n, 1 / 1024, 1 / 128],
    }),
    model: model.nbody,
  },
  {
    name: "blackscholes",
    title: "prices of 1M European options",
    size: 1 << 20,
    quickSize: 1024,
    results: ["call", "put"],
    tolerance: 1e-4,
    plan: (n) => ({
      buffers: {
        price: input("f32", n, noise(1, 5, 30)),
        strike: input("f32", n, noise(2, 1, 100)),
        years: input("f32", n, noise(3, 0.25, 10)),
        call: output("f32", n),
        put: output("f32", n),
      },
      launches: [
        {
          kernel: "blackscholes",
          grid: blocks(n, 128),
          block: [128],
          args: [int(n), float(1 / 64), float(0.25), "price", "strike", "years", "call", "put"],
        },
      ],
      sizes: [n, 1 / 64, 0.25],
    }),
    model: model.blackscholes,
  },
  {
    name: "reduce-tree",
    title: "sum of 4M floats, trees in shared memory",
    tuned: true,
    size: 1 << 22,
    quickSize: 5000,
    results: ["sum"],
    tolerance: 1e-5,
    plan: (n) => {
      const [first, second] = [Math.ceil(n / 512), Math.ceil(n / 512 ** 2)];
      const pass = (count: number, from: string, to: string) => ({
        kernel: "reduce_tree",
        grid: blocks(count, 512),
        block: [256] as const,
        args: [int(count), from, to],
      });
      return {
        buffers: {
          in: input("f32", n, noise(1, 0, 1)),
          part: output("f32", first),
          rest: output("f32", second),
          sum: output("f32", 1),
        },
        launches: [pass(n, "in", "part"), pass(first, "part", "rest"), pass(second, "rest", "sum")],
        sizes: [n],
      };
    },
    model: model.sum,
  },
  {
    name: "reduce-shuffle",
    title: "sum of 4M integers, shuffles within warps",
    size: 1 << 22,
    quickSize: 5000,
    results: ["sum"],
    plan: (n) => ({
      buffers: { in: input("u32", n, integers(1)), sum: inPlace("u32", 1, zeros) },
      launches: [{ kernel: "reduce_shuffle", grid: strided(n), block: [256], args: [int(n), "in", "sum"] }],
      sizes: [n],
    }),
    model: model.integerSum,
  },
  {
    name: "scan",
    title: "prefix sums of 1M integers, three launches",
    tuned: true,
    size: 1 << 20,
    quickSize: 4096,
    results: ["out"],
    plan: (n) => {
      const count = Math.ceil(n / 1024);
      return {
        buffers: {
          in: input("u32", n, integers(1, 1000)),
          out: output("u32", n),
          // One block scans them, which takes up to 1024.
          sums: output("u32", 1024),
          offsets: output("u32", 1024),
          total: output("u32", 1),
        },
        launches: [
          { kernel: "scan_blocks", grid: [count], block: [512], args: ["in", "out", "sums"] },
          { kernel: "scan_blocks", grid: [1], block: [512], args: ["sums", "offsets", "total"] },
          { kernel: "scan_add", grid: [count], block: [512], args: ["out", "offsets"] },
        ],
        sizes: [n],
      };
    },
    model: model.scan,
  },
  {
    name: "histogram",
    title: "256 bins of 4M bytes, atomics in shared memory",
    size: 1 << 20,
    quickSize: 1024,
    results: ["counts"],
    plan: (words) => ({
      buffers: { in: input("u8", 4 * words, integers(1)), counts: inPlace("u32", 256, zeros) },
      launches: [{ kernel: "histogram", grid: strided(words), block: [256], args: [int(words), "in", "counts"] }],
      sizes: [words],
    }),
    model: model.histogram,
  },
  {
    name: "spmv",
    title: "sparse matrix times vector, 128K rows of 16 on average",
    size: 1 << 17,
    quickSize: 512,
    results: ["y"],
    tolerance: 1e-5,
    plan: (rows) => {
      return {
        buffers: sparseProduct(rows),
        launches: [
          {
            kernel: "spmv",
            grid: blocks(rows, 256),
            block: [256],
            args: [int(rows), "start", "column", "value", "x", "y"],
          },
        ],
        sizes: [rows],
      };
    },
    model: model.spmv,
  },
  {
    name: "sha256",
    title: "SHA-256 of 64K messages of one block",
    size: 1 << 16,
    quickSize: 64,
    results: ["digests"],
    plan: (n) => ({
      buffers: { messages: input("u8", 48 * n, integers(1)), digests: output("u8", 32 * n) },
      launches: [{ kernel: "sha256", grid: blocks(n, 128), block: [128], args: [int(n), "messages", "digests"] }],
      sizes: [n],
    }),
    model: model.sha256,
  },
  indirect("indirect-random", "1M calls of one of 4 functions, at random", (n) => input("u32", n, integers(3, 4))),
  indirect("indirect-coherent", "1M calls of one of 4 functions, the same within a warp", (n) =>
    input("u32", n, { gen: "list", values: coherentSelectors(n) }),
  ),
  {
    name: "recursion",
    title: "Fibonacci number 20, 4096 threads",
    size: 4096,
    quickSize: 32,
    opencl: false,
    results: ["out"],
    plan: (n) => ({
      buffers: { order: input("u32", n, { gen: "fill", value: 20 }), out: output("u32", n) },
      launches: [{ kernel: "recursion", grid: blocks(n, 128), block: [128], args: [int(n), "order", "out"] }],
      sizes: [n],
    }),
    model: model.fibonacci,
  },
  {
    name: "bitonic",
    title: "bitonic sort of 1M integers, 210 launches",
    size: 1 << 20,
    quickSize: 1024,
    results: ["keys"],
    plan: (n) => {
      const pairs = n / 2;
      const steps: (readonly [run: number, distance: number])[] = [];
      for (let run = 2; run <= n; run *= 2) {
        for (let distance = run / 2; distance >= 1; distance /= 2) steps.push([run, distance]);
      }
      return {
        buffers: { keys: inPlace("s32", n, integers(1)) },
        launches: steps.map(([run, distance]) => ({
          kernel: "bitonic",
          grid: blocks(pairs, 256),
          block: [256],
          args: [int(pairs), int(run), int(distance), "keys"],
        })),
        sizes: [n],
      };
    },
    model: model.sorted,
  },
];

/** The benchmarks, in the order of the table. */
export const benchKernels: readonly BenchKernel[] = [
  ...rows.map((row) => ({ ...usual, file: row.name, ...row })),
  ...untunedKernels,
  ...heldOutKernels,
];
