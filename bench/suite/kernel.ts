import { type Scalar, scalar } from "../../src/runtime/data/argument.ts";
import { elementInfo, type Elements } from "../../src/runtime/data/element.ts";
import { generate, type Init } from "../../src/runtime/job/init.ts";
import { type BenchType, elementsInPages } from "./copies.ts";

/** A buffer of a benchmark. */
export interface BenchBuffer {
  readonly type: BenchType;
  /** Elements. */
  readonly n: number;
  /** What it holds before each run; null for one that the kernel only writes. */
  readonly init: Exclude<Init, { gen: "file" }> | null;
  /** Written as well as read: it is filled anew before each run. */
  readonly inPlace: boolean;
}

export type BenchSize = readonly [x: number, y?: number, z?: number];

interface BenchLaunch {
  readonly kernel: string;
  readonly grid: BenchSize;
  readonly block: BenchSize;
  /** Names of buffers, and numbers of a type. */
  readonly args: readonly (string | Scalar)[];
}

/** One benchmark at one size. */
export interface BenchPlan {
  readonly buffers: Readonly<Record<string, BenchBuffer>>;
  readonly launches: readonly BenchLaunch[];
  /** What the program in C is called with, besides the buffers. */
  readonly sizes: readonly number[];
}

/** Buffers by name, as numbers. */
export type Values = Readonly<Record<string, ArrayLike<number>>>;

export interface BenchKernel {
  readonly name: string;
  readonly title: string;
  /**
   * The name of its files: kernels/FILE.ptx, native/FILE.c, and where there are such tuned/FILE.c and opencl/FILE.cl.
   */
  readonly file: string;
  /** What `plan` is given, usually elements or the side of a square. */
  readonly size: number;
  /** A size that an interpreter takes no time for. */
  readonly quickSize: number;
  /** Whether a processor's own way to the same results is another than the kernel's. */
  readonly tuned: boolean;
  readonly opencl: boolean;
  /** The buffers that are compared, and by how much values may differ, relatively and absolutely. */
  readonly results: readonly string[];
  readonly tolerance: number;
  readonly plan: (size: number) => BenchPlan;
  /** The results, from first principles: what stands in where there is no compiler. */
  readonly model: (inputs: Values, plan: BenchPlan) => Values;
}

export const int = (value: number): Scalar => scalar("s32", value);

export const float = (value: number): Scalar => scalar("f32", value);

export const double = (value: number): Scalar => scalar("f64", value);

/** Noise: floats in [lo, hi). */
export const noise = (seed: number, lo: number, hi: number): Init & { gen: "lcg" } => ({
  gen: "lcg",
  seed,
  lo,
  hi,
  mod: null,
  add: 0,
  scale: 1,
});

/** Noise: integers in [0, mod), or all that the type has. */
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

/** How many bytes all buffers have, those that hold something before a run, and those that are compared. */
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

/** What the buffers hold before a run. */
export const initialValues = (plan: BenchPlan): ReadonlyMap<string, Elements> =>
  new Map(
    Object.entries(plan.buffers).map(([name, { type, n, init }]) => [
      name,
      generate(type, n, init ?? zeros, elementsInPages(type, n)),
    ]),
  );
