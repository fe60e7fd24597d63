import { type ElementType, Elements, elementInfo } from "./element.ts";

/** How a buffer is filled before the first launch. */
export type Init =
  | { readonly gen: "zero" }
  | { readonly gen: "fill"; readonly value: number | bigint }
  /** start, start + step, start + 2 step, ... */
  | { readonly gen: "iota"; readonly start: number | bigint; readonly step: number | bigint }
  | { readonly gen: "list"; readonly values: readonly (number | bigint)[] }
  | { readonly gen: "bytes"; readonly data: Uint8Array }
  /** `.npy`, or raw little-endian bytes. */
  | { readonly gen: "file"; readonly path: string }
  | LcgInit;

/** Reproducible noise: a linear congruential generator, `s * 1664525 + 1013904223 mod 2^32`. */
interface LcgInit {
  readonly gen: "lcg";
  readonly seed: number;
  /** Floats lie in [lo, hi) unless `mod` is given. */
  readonly lo: number;
  readonly hi: number;
  /** The range of the integers that are drawn, or null for all that the type has. */
  readonly mod: number | null;
  readonly add: number;
  /** Floats with `mod`: integers times this. */
  readonly scale: number;
}

/** The elements that an initialization without a file gives. */
export function generate(type: ElementType, n: number, init: Exclude<Init, { gen: "file" }>): Elements {
  switch (init.gen) {
    case "zero":
      return Elements.zeros(type, n);
    case "bytes":
      return new Elements(type, new Uint8Array(init.data));
    case "list":
      return filled(type, n, (i) => init.values[i] ?? 0);
    case "fill":
      return filled(type, n, () => init.value);
    case "iota":
      return filled(type, n, ramp(type, init.start, init.step));
    case "lcg":
      return filled(type, n, noise(type, init));
  }
}

function filled(type: ElementType, n: number, value: (index: number) => number | bigint): Elements {
  const elements = Elements.zeros(type, n);
  for (let i = 0; i < n; i++) elements.set(i, value(i));
  return elements;
}

function ramp(type: ElementType, start: number | bigint, step: number | bigint): (i: number) => number | bigint {
  if (elementInfo[type].kind === "float") {
    const [from, by] = [Number(start), Number(step)];
    return (i) => from + i * by;
  }
  const [from, by] = [BigInt(start), BigInt(step)];
  return (i) => from + BigInt(i) * by;
}

function noise(type: ElementType, { seed, lo, hi, mod, add, scale }: LcgInit): () => number | bigint {
  let state = seed >>> 0;
  const step = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  const mixed = (): number => {
    const s = step();
    return (s ^ (s >>> 16)) >>> 0;
  };
  const { kind, size } = elementInfo[type];
  if (kind === "float") {
    if (mod !== null) return () => (((mixed() >>> 3) % mod) + add) * scale;
    return () => lo + ((hi - lo) * (step() >>> 8)) / 0x100_0000;
  }
  if (size < 8) return mod === null ? mixed : () => ((mixed() >>> 3) % mod) + add;
  return () => {
    const low = mixed();
    const high = mixed();
    return mod === null ? BigInt(low) | (BigInt(high) << 32n) : BigInt(((low >>> 3) % mod) + add);
  };
}
