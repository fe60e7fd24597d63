import { createHash } from "node:crypto";
import { fma32 } from "../../src/numeric/binary32.ts";
import { elementsInPages, numbersOf } from "./copies.ts";
import type { BenchPlan, Values } from "./kernel.ts";

// Models of the benchmarks: what they compute, in double precision and without regard to speed, written from the
// definitions rather than from the kernels.

type Model = (inputs: Values, plan: BenchPlan) => Values;

function computed(n: number, value: (i: number) => number): ArrayLike<number> {
  const elements = elementsInPages("f64", n);
  for (let i = 0; i < n; i++) elements.set(i, value(i));
  return numbersOf("f64", elements);
}

export const saxpy: Model = ({ x, y }, { sizes: [n, a] }) => ({ y: computed(n!, (i) => a! * x![i]! + y![i]!) });

export const triad: Model = ({ b, c }, { sizes: [n, q] }) => ({ a: computed(n!, (i) => b![i]! + q! * c![i]!) });

export const matmul: Model = ({ A, B }, { sizes: [side] }) => {
  const n = side!;
  const C = new Float64Array(n * n);
  for (let row = 0; row < n; row++) {
    for (let k = 0; k < n; k++) {
      const a = A![row * n + k]!;
      for (let col = 0; col < n; col++) C[row * n + col]! += a * B![k * n + col]!;
    }
  }
  return { C };
};

/** The product of a matrix and one whose columns lie one after the other. */
export const matmulByColumns: Model = ({ A, B }, { sizes: [side] }) => {
  const n = side!;
  const product = (row: number, col: number): number => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += A![row * n + k]! * B![col * n + k]!;
    return sum;
  };
  return { C: computed(n * n, (i) => product(Math.floor(i / n), i % n)) };
};

/** Attention of heads of 64 elements, scaled by their square root. */
export const attention: Model = ({ Q, K, V }, { sizes: [n] }) => {
  const width = 64;
  const weights = Array.from({ length: n! }, (_, row) => {
    const scores = Array.from({ length: n! }, (__, key) => {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += Q![row * width + i]! * K![key * width + i]!;
      return sum / 8;
    });
    const most = Math.max(...scores);
    const exponentials = scores.map((score) => Math.exp(score - most));
    const sum = exponentials.reduce((a, b) => a + b);
    return exponentials.map((e) => e / sum);
  });
  return {
    O: computed(n! * width, (i) =>
      weights[Math.floor(i / width)]!.reduce((sum, weight, key) => sum + weight * V![key * width + (i % width)]!, 0),
    ),
  };
};

export const transpose: Model = (inputs, { sizes: [n] }) => ({
  out: computed(n! * n!, (i) => inputs["in"]![(i % n!) * n! + Math.floor(i / n!)]!),
});

export const stencil: Model = (inputs, { sizes: [side] }) => {
  const n = side!;
  const cell = inputs["in"]!;
  const inner = (v: number): boolean => v > 0 && v < n - 1;
  return {
    out: computed(n * n, (i) =>
      inner(i % n) && inner(Math.floor(i / n))
        ? 0.5 * cell[i]! + 0.125 * (cell[i - 1]! + cell[i + 1]! + cell[i - n]! + cell[i + n]!)
        : cell[i]!,
    ),
  };
};

/** Weights have eight bits of fraction. */
export const textureBlur: Model = (inputs, { sizes: [side] }) => {
  const n = side!;
  const from = inputs["in"]!;
  const clamped = (v: number): number => Math.max(0, Math.min(v, n - 1));
  const sample = (u: number, v: number): number => {
    const [i, j] = [Math.floor(u - 0.5), Math.floor(v - 0.5)];
    const [a, b] = [u - 0.5 - i, v - 0.5 - j].map((fraction) => Math.floor(fraction * 256 + 0.5) / 256) as [
      number,
      number,
    ];
    const row = (y: number): number =>
      (1 - a) * from[clamped(y) * n + clamped(i)]! + a * from[clamped(y) * n + clamped(i + 1)]!;
    return (1 - b) * row(j) + b * row(j + 1);
  };
  return {
    out: computed(n * n, (i) => {
      const [u, v] = [(i % n) + 0.5, Math.floor(i / n) + 0.5];
      const four = [-0.6, 0.6].flatMap((dv) => [-0.6, 0.6].map((du) => sample(u + du, v + dv)));
      return four.reduce((sum, value) => sum + value) / 4;
    }),
  };
};

export const mandelbrot: Model = (_, { sizes: [n, x0, y0, step, limit] }) => ({
  out: computed(n! * n!, (i) => {
    const cx = fma32(i % n!, Math.fround(step!), x0!);
    const cy = fma32(Math.floor(i / n!), Math.fround(step!), y0!);
    let [x, y, count] = [0, 0, 0];
    while (count < limit! && fma32(x, x, Math.fround(y * y)) <= 4) {
      [x, y] = [fma32(-y, y, fma32(x, x, cx)), fma32(2 * x, y, cy)];
      count++;
    }
    return count;
  }),
});

export const nbody: Model = ({ position, velocity }, { sizes: [n, dt, softening] }) => {
  const newPosition = Array.from(position!);
  const newVelocity = Array.from(velocity!);
  for (let i = 0; i < n!; i++) {
    const pull = [0, 0, 0];
    for (let j = 0; j < n!; j++) {
      const away = [0, 1, 2].map((axis) => position![4 * j + axis]! - position![4 * i + axis]!);
      const squared = away.reduce((sum, d) => sum + d * d, softening!);
      for (let axis = 0; axis < 3; axis++) pull[axis]! += (position![4 * j + 3]! * away[axis]!) / squared ** 1.5;
    }
    for (let axis = 0; axis < 3; axis++) {
      newVelocity[4 * i + axis]! += pull[axis]! * dt!;
      newPosition[4 * i + axis]! += newVelocity[4 * i + axis]! * dt!;
    }
  }
  return { newPosition, newVelocity };
};

/** The cumulative normal distribution: the integral of the density from the mean, by its Taylor series. */
function normal(d: number): number {
  let [sum, term] = [0, d];
  for (let k = 1; Math.abs(term) > 1e-17 && k < 400; k++) {
    sum += term / (2 * k - 1);
    term *= -(d * d) / (2 * k);
  }
  return Math.abs(d) > 6 ? Number(d > 0) : 0.5 + sum / Math.sqrt(2 * Math.PI);
}

export const blackscholes: Model = ({ price, strike, years }, { sizes: [n, rate, volatility] }) => {
  const call = computed(n!, (i) => {
    const [s, x, t] = [price![i]!, strike![i]!, years![i]!];
    const spread = volatility! * Math.sqrt(t);
    const d1 = (Math.log(s / x) + (rate! + volatility! ** 2 / 2) * t) / spread;
    return s * normal(d1) - x * Math.exp(-rate! * t) * normal(d1 - spread);
  });
  // Put-call parity: a call minus a put is worth the share minus the discounted strike.
  const put = computed(n!, (i) => call[i]! - price![i]! + strike![i]! * Math.exp(-rate! * years![i]!));
  return { call, put };
};

export const sum: Model = (inputs) => {
  let total = 0;
  for (let i = 0; i < inputs["in"]!.length; i++) total += inputs["in"]![i]!;
  return { sum: [total] };
};

/** The sum modulo 2^32. */
export const integerSum: Model = (inputs) => {
  let total = 0;
  for (let i = 0; i < inputs["in"]!.length; i++) total = (total + inputs["in"]![i]!) >>> 0;
  return { sum: [total] };
};

export const scan: Model = (inputs) => {
  let total = 0;
  return { out: computed(inputs["in"]!.length, (i) => ((total += inputs["in"]![i]!), total - inputs["in"]![i]!)) };
};

export const histogram: Model = (inputs) => {
  const counts = new Array<number>(256).fill(0);
  for (let i = 0; i < inputs["in"]!.length; i++) counts[inputs["in"]![i]!]!++;
  return { counts };
};

export const spmv: Model = ({ start, column, value, x }, { sizes: [rows] }) => ({
  y: computed(rows!, (row) => {
    let dot = 0;
    for (let i = start![row]!; i < start![row + 1]!; i++) dot += value![i]! * x![column![i]!]!;
    return dot;
  }),
});

export const sha256: Model = ({ messages }, { sizes: [n] }) => {
  const bytes = Uint8Array.from(messages!);
  const digest = (i: number): Uint8Array =>
    createHash("sha256")
      .update(bytes.subarray(48 * i, 48 * i + 48))
      .digest();
  const digests = new Uint8Array(32 * n!);
  for (let i = 0; i < n!; i++) digests.set(digest(i), 32 * i);
  return { digests };
};

const steps: readonly ((x: number, y: number) => number)[] = [
  (x, y) => Math.imul(x ^ (x >>> 15), 0x2c1b_3c6d) + y,
  (x, y) => 3 * x + ((y ^ (x >>> 7)) >>> 0),
  (x, y) => Math.abs(x - y),
  (x, y) => ((x << 5) | (x >>> 27)) ^ y,
];

export const indirect: Model = ({ selector, x, y }, { sizes: [n] }) => ({
  out: computed(n!, (i) => steps[selector![i]!]!(x![i]!, y![i]!) >>> 0),
});

export const fibonacci: Model = ({ order }) => ({
  out: Array.from(order!, (n) => {
    let [a, b] = [0, 1];
    for (let i = 0; i < n; i++) [a, b] = [b, a + b];
    return a;
  }),
});

export const sorted: Model = ({ keys }) => ({ keys: Int32Array.from(keys!).sort() });
