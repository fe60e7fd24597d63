import { type Scalar, scalar } from "../../src/runtime/data/argument.ts";
import { elementInfo, type Elements } from "../../src/runtime/data/element.ts";
import { generate, type Init } from "../../src/runtime/job/init.ts";
import { type BenchType, elementsInPages } from "./copies.ts";

/** A buffer of a benchmark. */
export interface BenchBuffer {
  readonly type: BenchType;
  /** The number of elements. */
  readonly n: number;
  /** The initial contents for each run; null if the kernel only writes it. */
  readonly init: Exclude<Init, { gen: "file" }> | null;
  /** Whether the kernel both reads and writes it, so that it must be refilled before each run. */
  readonly inPlace: boolean;
}

export type BenchSize = readonly [x: number, y?: number, z?: number];

/** A texture of a square image of one float in each texel. */
interface BenchTexture {
  readonly texture: string;
  readonly width: number;
}

/** A tensor map of a square matrix of halves in rows, of which a box is copied at once, in the swizzle of 128 bytes. */
export interface BenchTensorMap {
  readonly matrix: string;
  readonly side: number;
  readonly box: readonly [columns: number, rows: number];
}

/** The name of a buffer, a typed number, or a texture or tensor map of a buffer, which peers get as the buffer. */
export type BenchArgument = string | Scalar | BenchTexture | BenchTensorMap;

interface BenchLaunch {
  readonly kernel: string;
  readonly grid: BenchSize;
  readonly block: BenchSize;
  /** Bytes of shared memory whose size the launch decides; none by default. */
  readonly shared?: number;
  readonly args: readonly BenchArgument[];
}

/** A benchmark at a given size. */
export interface BenchPlan {
  readonly buffers: Readonly<Record<string, BenchBuffer>>;
  readonly launches: readonly BenchLaunch[];
  /** The arguments of the C program besides the buffers. */
  readonly sizes: readonly number[];
}

/** Buffers by name, as numbers. */
export type Values = Readonly<Record<string, ArrayLike<number>>>;

/** Benchmarks with a table and a mean of their own. */
export const benchGroups = ["usual", "untuned", "held-out"] as const;

export interface BenchKernel {
  readonly group: (typeof benchGroups)[number];
  readonly name: string;
  readonly title: string;
  /** The name of its files: kernels/FILE.ptx, native/FILE.c and, if they exist, tuned/FILE.c and opencl/FILE.cl. */
  readonly file: string;
  /** The size passed to `plan`, usually the number of elements or the side of a square. */
  readonly size: number;
  /** A size for which the interpreter needs hardly any time. */
  readonly quickSize: number;
  /** Whether a CPU's best way to the same results differs from the kernel's. */
  readonly tuned: boolean;
  readonly opencl: boolean;
  /** The buffers that are compared, and the relative and absolute tolerance for their values. */
  readonly results: readonly string[];
  readonly tolerance: number;
  readonly plan: (size: number) => BenchPlan;
  /** Computes the expected results from first principles; used if there is no C compiler. */
  readonly model: (inputs: Values, plan: BenchPlan) => Values;
}

/** A benchmark whose peers are plain C and OpenCL, with files of its own name. */
export type UntunedRow = Omit<BenchKernel, "file" | "tuned" | "opencl" | "group">;

export const untuned = (row: UntunedRow, group: BenchKernel["group"]): BenchKernel => ({
  ...row,
  file: row.name,
  tuned: false,
  opencl: true,
  group,
});

export const int = (value: number): Scalar => scalar("s32", value);

export const float = (value: number): Scalar => scalar("f32", value);

export const double = (value: number): Scalar => scalar("f64", value);

/** Initializes with random floats in [lo, hi). */
export const noise = (seed: number, lo: number, hi: number): Init & { gen: "lcg" } => ({
  gen: "lcg",
  seed,
  lo,
  hi,
  mod: null,
  add: 0,
  scale: 1,
});

/** Initializes with random integers in [0, mod), or over the whole range of the type. */
export const integers = (seed: number, mod: number | null = null): Init & { gen: "lcg" } => ({
  ...noise(seed, 0, 1),
  mod,
});

export const zeros: Init & { gen: "zero" } = { gen: "zero" };

export const input = (type: BenchType, n: number, init: BenchBuffer["init"]): BenchBuffer => ({
  type,
  n,
  init,
  inPlace: false,
});

export const inPlace = (type: BenchType, n: number, init: BenchBuffer["init"]): BenchBuffer => ({
  ...input(type, n, init),
  inPlace: true,
});

export const output = (type: BenchType, n: number): BenchBuffer => input(type, n, null);

export const bytesOfBuffer = ({ type, n }: BenchBuffer): number => n * elementInfo[type].size;

/** The size in bytes of all buffers, of those with initial contents, and of those that are compared. */
export function bytesOfData(
  { results }: Pick<BenchKernel, "results">,
  { buffers }: BenchPlan,
): { readonly buffers: number; readonly inputs: number; readonly results: number } {
  const all = Object.values(buffers);
  const bytes = (some: readonly BenchBuffer[]): number => some.reduce((sum, b) => sum + bytesOfBuffer(b), 0);
  return {
    buffers: bytes(all),
    inputs: bytes(all.filter(({ init }) => init !== null)),
    results: bytes(results.map((name) => buffers[name]!)),
  };
}

/** The contents of the buffers before a run. */
export const initialValues = (plan: BenchPlan): ReadonlyMap<string, Elements> =>
  new Map(
    Object.entries(plan.buffers).map(([name, { type, n, init }]) => [
      name,
      generate(type, n, init ?? zeros, elementsInPages(type, n)),
    ]),
  );
