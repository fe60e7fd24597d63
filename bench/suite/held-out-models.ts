import type { BenchPlan, Values } from "./kernel.ts";

// Models of the kernels that are held out, written from what they compute.

type Model = (inputs: Values, plan: BenchPlan) => Values;

const each = (n: number, value: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => value(i));

const rotated = (k: number, by: number): number => (k << by) | (k >>> (32 - by));

export const keyHash: Model = ({ keys }, { sizes: [n] }) => ({
  hashes: each(n!, (i) => {
    let hash = 0;
    for (let at = 24 * i; at < 24 * i + 24; at += 4) {
      const word = keys![at]! | (keys![at + 1]! << 8) | (keys![at + 2]! << 16) | (keys![at + 3]! << 24);
      hash ^= Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
      hash = (Math.imul(rotated(hash, 13), 5) + 0xe6546b64) | 0;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }),
});

export const tileLu: Model = ({ in: from }, { sizes: [n] }) => {
  const out = Array.from(from!);
  for (let base = 0; base < 256 * n!; base += 256) {
    for (let k = 0; k < 16; k++) {
      for (let y = k + 1; y < 16; y++) {
        const factor = (out[base + 16 * y + k]! /= out[base + 17 * k]!);
        for (let x = k + 1; x < 16; x++) out[base + 16 * y + x]! -= factor * out[base + 16 * k + x]!;
      }
    }
  }
  return { out };
};

export const elimination: Model = ({ a, m }, { sizes: [unknowns] }) => {
  const n = unknowns!;
  const [rest, factors] = [Array.from(a!), Array.from(m!)];
  for (let k = 0; k < n - 1; k++) {
    for (let y = k + 1; y < n; y++) {
      factors[y] = rest[y * n + k]! / rest[k * n + k]!;
      for (let x = k; x < n; x++) rest[y * n + x]! -= factors[y]! * rest[k * n + x]!;
    }
  }
  return { a: rest, m: factors };
};

export const rowTable: Model = ({ which, at, a, b, c, d }, { sizes: [n] }) => {
  const rows = [a!, b!, c!, d!];
  const term = (j: number): number => rows[which![j]!]![at![j]!]!;
  return { out: each(n!, (i) => term(4 * i) * term(4 * i + 1) * term(4 * i + 2) * term(4 * i + 3)) };
};

export const queens: Model = ({ columns, lefts, rights }, { sizes: [n, size] }) => {
  const all = 2 ** size! - 1;
  const count = (taken: number, left: number, right: number): number => {
    if (taken === all) return 1;
    let found = 0;
    for (let free = all & ~(taken | left | right); free !== 0; ) {
      const place = free & -free;
      free ^= place;
      found += count(taken | place, (left | place) << 1, (right | place) >> 1);
    }
    return found;
  };
  return { ways: each(n!, (i) => count(columns![i]!, lefts![i]!, rights![i]!)) };
};

export const hashTable: Model = ({ keys, asked }) => {
  const count = new Map<number, number>();
  for (const key of Array.from(keys!)) count.set(key, (count.get(key) ?? 0) + 1);
  return { found: Array.from(asked!, (key) => count.get(key) ?? 0) };
};

export const warpScan: Model = ({ in: from }, { sizes: [blocks] }) => {
  let sum = 0;
  const out = each(256 * blocks!, (i) => (sum = (i % 256 === 0 ? 0 : sum) + from![i]!));
  return { out, sums: each(blocks!, (block) => out[256 * block + 255]!) };
};

export const planeQueue: Model = ({ in: from }, { sizes: [nx, ny, nz, own, others] }) => {
  const steps = [1, nx!, nx! * ny!];
  const isInside = (at: number, axis: number, n: number): boolean => {
    const place = Math.floor(at / steps[axis]!) % n;
    return place > 0 && place < n - 1;
  };
  return {
    out: each(nx! * ny! * nz!, (at) => {
      if (![nx!, ny!, nz!].every((n, axis) => isInside(at, axis, n))) return 0;
      const sum = steps.reduce((total, step) => total + from![at - step]! + from![at + step]!, 0);
      return own! * from![at]! + others! * sum;
    }),
  };
};

export const editDistance: Model = ({ a, b }, { sizes: [n] }) => {
  const letters = 32;
  const distance = (first: number): number => {
    const table = Array.from({ length: letters + 1 }, (_, y) => each(letters + 1, (x) => (y === 0 ? x : y)));
    for (let y = 1; y <= letters; y++) {
      for (let x = 1; x <= letters; x++) {
        const isOther = a![first + y - 1]! === b![first + x - 1]! ? 0 : 1;
        const [above, left, diagonal] = [table[y - 1]![x]!, table[y]![x - 1]!, table[y - 1]![x - 1]!];
        table[y]![x] = Math.min(above + 1, left + 1, diagonal + isOther);
      }
    }
    return table[letters]![letters]!;
  };
  return { distances: each(n!, (i) => distance(letters * i)) };
};

export const frontier: Model = ({ start, edge }, { sizes: [n, levels] }) => {
  const level = each(n!, (node) => (node === 0 ? 0 : -1));
  let nodes = [0];
  for (let depth = 1; depth <= levels!; depth++) {
    const reached = new Set<number>();
    for (const node of nodes) {
      for (let k = start![node]!; k < start![node + 1]!; k++) if (level[edge![k]!]! < 0) reached.add(edge![k]!);
    }
    nodes = [...reached];
    for (const node of nodes) level[node] = depth;
  }
  return { level };
};

export const fourier: Model = ({ in: from }, { sizes: [n] }) => {
  const points = 256;
  const [sines, cosines] = [Math.sin, Math.cos].map((of) => each(points, (k) => of((-2 * Math.PI * k) / points)));
  const out = new Array<number>(2 * points * n!).fill(0);
  for (let base = 0; base < 2 * points * n!; base += 2 * points) {
    for (let k = 0; k < points; k++) {
      for (let i = 0; i < points; i++) {
        const [x, y] = [from![base + 2 * i]!, from![base + 2 * i + 1]!];
        const [sine, cosine] = [sines![(k * i) % points]!, cosines![(k * i) % points]!];
        out[base + 2 * k]! += x * cosine - y * sine;
        out[base + 2 * k + 1]! += x * sine + y * cosine;
      }
    }
  }
  return { out };
};

export const life: Model = ({ a }, { sizes: [side, generations] }) => {
  const n = side!;
  let [now, before] = [Array.from(a!), Array.from(a!)];
  const at = (y: number, x: number): number => before[((y + n) % n) * n + ((x + n) % n)]!;
  const next = (y: number, x: number): number => {
    let alive = -at(y, x);
    for (let k = 0; k < 9; k++) alive += at(y + Math.floor(k / 3) - 1, x + (k % 3) - 1);
    return Number(alive === 3 || (alive === 2 && at(y, x) === 1));
  };
  for (let step = 0; step < generations!; step++) {
    before = now;
    now = each(n * n, (i) => next(Math.floor(i / n), i % n));
  }
  return generations! % 2 === 0 ? { a: now, b: before } : { a: before, b: now };
};

export const rowDots: Model = ({ a, b }, { sizes: [n, columns] }) => ({
  dots: each(n!, (row) => {
    let sum = 0;
    for (let i = row * columns!; i < (row + 1) * columns!; i++) sum += a![i]! * b![i]!;
    return sum;
  }),
});

export const substring: Model = ({ text }, { sizes: [n] }) => ({
  found: each(n!, (i) => Number([2, 0, 1, 2, 0, 3].every((letter, k) => text![i + k] === letter))),
});

export const compaction: Model = ({ in: from }, { sizes: [n] }) => {
  const kept = Array.from(from!).filter((value) => value > 0);
  return { out: each(n!, (i) => kept[i] ?? 0), count: [kept.length] };
};

export const localAlignment: Model = ({ a, b }, { sizes: [n] }) => ({
  best: each(n!, (pair) => {
    const score = Array.from({ length: 65 }, () => Array<number>(65).fill(0));
    for (let y = 1; y <= 64; y++) {
      for (let x = 1; x <= 64; x++) {
        const match = score[y - 1]![x - 1]! + (a![64 * pair + y - 1] === b![64 * pair + x - 1] ? 3 : -1);
        score[y]![x] = Math.max(0, match, score[y - 1]![x]! - 2, score[y]![x - 1]! - 2);
      }
    }
    return Math.max(...score.flat());
  }),
});

export const median: Model = ({ in: from }, { sizes: [side] }) => {
  const n = side!;
  const clamped = (i: number): number => Math.min(Math.max(i, 0), n - 1);
  const at = (y: number, x: number): number => from![clamped(y) * n + clamped(x)]!;
  const around = (i: number): number[] =>
    each(9, (k) => at(Math.floor(i / n) + Math.floor(k / 3) - 1, (i % n) + (k % 3) - 1));
  return { out: each(n * n, (i) => around(i).sort((p, q) => p - q)[4]!) };
};

export const randomWalks: Model = ({ seeds }, { sizes: [n, band] }) => ({
  steps: each(n!, (i) => {
    let state = seeds![i]! | 1;
    let [at, count] = [0, 0];
    while (Math.abs(at) < band!) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      at += state < 0 ? 1 : -1;
      count++;
    }
    return Math.sign(at) * count;
  }),
});
