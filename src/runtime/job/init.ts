import { elementInfo, Elements, type ElementType } from "../data/element.ts";

/** The initial contents of a buffer. */
export type Init =
  | { readonly gen: "zero" }
  | { readonly gen: "fill"; readonly value: number | bigint }
  /** start, start + step, start + 2 step, ... */
  | { readonly gen: "iota"; readonly start: number | bigint; readonly step: number | bigint }
  | { readonly gen: "list"; readonly values: ArrayLike<number | bigint> }
  | { readonly gen: "bytes"; readonly data: Uint8Array }
  /** `.npy`, or raw little-endian bytes. */
  | { readonly gen: "file"; readonly path: string }
  | LcgInit;

/** Reproducible noise from a linear congruential generator: `s * 1664525 + 1013904223 mod 2^32`. */
export interface LcgInit {
  readonly gen: "lcg";
  readonly seed: number;
  /** Floats lie in [lo, hi) unless `mod` is given. */
  readonly lo: number;
  readonly hi: number;
  /** The range [0, mod) of the integers drawn, or null for the whole range of the type. */
  readonly mod: number | null;
  readonly add: number;
  /** Floats with `mod` are integers times this. */
  readonly scale: number;
}

/**
 * Generates the elements of an initialization that needs no file. `into` must hold as many zeros; it is filled and
 * returned.
 */
export function generate(
  type: ElementType,
  n: number,
  init: Exclude<Init, { gen: "file" }>,
  into = Elements.zeros(type, n),
): Elements {
  switch (init.gen) {
    case "zero":
      return into;
    case "bytes":
      into.bytes.set(init.data);
      return into;
    case "list":
      return filled(into, (i) => init.values[i] ?? 0);
    case "fill":
      return filled(into, () => init.value);
    case "iota":
      return filled(into, ramp(type, init.start, init.step));
    case "lcg":
      return filled(into, noise(type, init));
  }
}

function filled(elements: Elements, value: (index: number) => number | bigint): Elements {
  for (let i = 0; i < elements.length; i++) elements.set(i, value(i));
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
