import type { BenchPlan, Values } from "./kernel.ts";

// Models of the kernels that nothing was tuned for, written from what they compute.

type Model = (inputs: Values, plan: BenchPlan) => Values;

const sumOf = (n: number, term: (k: number) => number): number => {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += term(k);
  return sum;
};

const each = (n: number, value: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => value(i));

const clamped = (i: number, n: number): number => Math.min(Math.max(i, 0), n - 1);

export const twoHalos: Model = ({ u, v }, { sizes: [n] }) => ({
  out: each(n!, (i) => sumOf(9, (d) => (u![i + d - 4] ?? 0) * (v![i - d + 4] ?? 0))),
});

export const wavefront: Model = ({ a, b, score }, { sizes: [n] }) => {
  const width = n! + 1;
  const all = Array.from(score!);
  for (let y = 1; y <= n!; y++) {
    for (let x = 1; x <= n!; x++) {
      const match = all[(y - 1) * width + x - 1]! + (a![y - 1] === b![x - 1] ? 3 : -1);
      all[y * width + x] = Math.max(match, all[(y - 1) * width + x]! - 2, all[y * width + x - 1]! - 2);
    }
  }
  return { score: all };
};

export const clampedBlur: Model = ({ in: from }, { sizes: [side] }) => {
  const n = side!;
  const at = (y: number, x: number): number => from![clamped(y, n) * n + clamped(x, n)]!;
  const mean = (y: number, x: number): number => sumOf(25, (k) => at(y + Math.floor(k / 5) - 2, x + (k % 5) - 2)) / 25;
  return { out: each(n * n, (i) => mean(Math.floor(i / n), i % n)) };
};

export const ringFilter: Model = ({ x, taps }, { sizes: [n] }) => ({
  y: each(n!, (i) => sumOf(16, (k) => taps![k]! * x![(i - k + n!) % n!]!)),
});

export const lattice: Model = ({ price }, { sizes: [n, up, down, step] }) => ({
  value: each(n!, (i) => {
    let nodes = each(512, (k) => Math.max(price![i]! + step! * (2 * k - 512), 0));
    for (let round = 0; round < 512; round++) nodes = nodes.map((node, k) => up! * (nodes[k + 1] ?? 0) + down! * node);
    return nodes[0]!;
  }),
});

/** The sign of a term of a Hadamard transform of four. */
const sign = (k: number, x: number): number => ((k & x) === 1 || (k & x) === 2 ? -1 : 1);

export const smallBlocks: Model = ({ in: from }, { sizes: [side] }) => {
  const n = side!;
  const transformed = (top: number, left: number, y: number, x: number): number =>
    sumOf(16, (k) => sign(k >> 2, y) * sign(k & 3, x) * from![(top + (k >> 2)) * n + left + (k & 3)]!);
  return {
    out: each(n * n, (i) => {
      const [y, x] = [Math.floor(i / n), i % n];
      return transformed(y - (y % 4), x - (x % 4), y % 4, x % 4);
    }),
  };
};

export const rowSums: Model = ({ in: from }, { sizes: [n] }) => ({
  sums: each(n!, (row) => sumOf(16, (i) => from![16 * row + i]!) % 2 ** 32),
});

export const luminance: Model = ({ rgb }, { sizes: [n] }) => ({
  grey: each(n!, (i) => Math.floor((77 * rgb![3 * i]! + 150 * rgb![3 * i + 1]! + 29 * rgb![3 * i + 2]!) / 256)),
});

export const chosenPointer: Model = ({ choice, a, b }, { sizes: [n] }) => ({
  out: each(n!, (i) => (choice![i]! > 0 ? a! : b!)[i]! * (i % 2 === 1 ? b! : a!)[255 - (i % 256)]!),
});

export const relaxation: Model = ({ a, b }, { sizes: [n, steps] }) => {
  const rows = [Array.from(a!), Array.from(b!)] as const;
  for (let step = 0; step < steps!; step++) {
    const [from, to] = step % 2 === 0 ? [rows[0], rows[1]] : [rows[1], rows[0]];
    for (let i = 1; i < n! - 1; i++) to[i] = Math.fround((from[i - 1]! + from[i + 1]!) / 2);
  }
  return { a: rows[0], b: rows[1] };
};

export const warpTree: Model = ({ in: from }, { sizes: [n] }) => ({
  sums: each(n!, (run) => sumOf(512, (i) => from![512 * run + i]!) % 2 ** 32),
});

export const paddedScan: Model = ({ in: from }, { sizes: [n] }) => {
  let sum = 0;
  const next = (i: number): number => {
    const before = i % 512 === 0 ? 0 : sum;
    sum = (before + from![i]!) % 2 ** 32;
    return before;
  };
  return { out: each(512 * n!, next) };
};

export const ghostZone: Model = ({ in: from }, { sizes: [side, rate] }) => {
  const n = side!;
  let now = Array.from(from!);
  const at = (y: number, x: number): number => now[clamped(y, n) * n + clamped(x, n)]!;
  const next = (y: number, x: number): number =>
    at(y, x) + rate! * (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4 * at(y, x));
  // A tile at a border of the matrix takes its outermost threads, which change nothing, for the border.
  for (let step = 0; step < 2; step++) now = each(n * n, (i) => next(Math.floor(i / n), i % n));
  return { out: now };
};

export const residual: Model = ({ in: from }, { sizes: [side] }) => {
  const n = side!;
  const tiles = n / 16;
  const out = Array<number>(n * n).fill(0);
  const sums = Array<number>(tiles * tiles).fill(0);
  for (let y = 1; y < n - 1; y++) {
    for (let x = 1; x < n - 1; x++) {
      const i = y * n + x;
      out[i] = (from![i - 1]! + from![i + 1]! + from![i - n]! + from![i + n]!) / 4;
      sums[Math.floor(y / 16) * tiles + Math.floor(x / 16)]! += (out[i] - from![i]!) ** 2;
    }
  }
  return { out, sums };
};

export const earlyExercise: Model = ({ price, strike }, { sizes: [n, steps, up, down, growth] }) => ({
  value: each(n!, (i) => {
    const worth = (k: number, step: number): number =>
      strike![i]! - (price![i]! + growth! * (2 * k - steps!) + growth! * step);
    let nodes = each(steps! + 1, (k) => Math.max(worth(k, 0), 0));
    for (let step = 1; step <= steps!; step++) {
      nodes = each(steps! + 1 - step, (k) => Math.max(up! * nodes[k + 1]! + down! * nodes[k]!, worth(k, step)));
    }
    return nodes[0]!;
  }),
});

export const walsh: Model = ({ in: from }, { sizes: [n] }) => {
  const out = Array.from(from!);
  for (let stride = 256; stride >= 1; stride /= 2) {
    for (let i = 0; i < 512 * n!; i++) {
      if ((i & stride) !== 0) continue;
      const [a, b] = [out[i]!, out[i + stride]!];
      [out[i], out[i + stride]] = [a + b, a - b];
    }
  }
  return { out };
};

export const cheapestPath: Model = ({ cost, a, b }, { sizes: [columns] }) => {
  const n = columns!;
  const rows = [Array.from(a!), Array.from(b!)] as const;
  for (let launch = 0; launch < 16; launch++) {
    let now = rows[launch % 2]!;
    for (let row = 8 * launch; row < 8 * launch + 8; row++) {
      const before = now;
      now = each(
        n,
        (x) => cost![row * n + x]! + Math.min(before[x]!, before[Math.max(x - 1, 0)]!, before[Math.min(x + 1, n - 1)]!),
      );
    }
    for (let x = 0; x < n; x++) rows[1 - (launch % 2)]![x] = now[x]!;
  }
  return { a: rows[0], b: rows[1] };
};
