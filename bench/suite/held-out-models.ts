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
