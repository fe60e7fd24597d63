import type { LscAddress } from "../tree.ts";

/** A table of codes in both directions. */
export interface Codes<Name> {
  readonly codeOf: ReadonlyMap<Name, number>;
  readonly nameOf: ReadonlyMap<number, Name>;
}

function codes<Name>(...pairs: readonly (readonly [number, Name])[]): Codes<Name> {
  const nameOf = new Map<number, Name>();
  // If several names have the same code, readers give the first.
  for (const [code, name] of pairs) if (!nameOf.has(code)) nameOf.set(code, name);
  return { codeOf: new Map(pairs.map(([code, name]) => [name, code])), nameOf };
}

/** Address models. */
export const models = codes<LscAddress["model"]>(
  [1, "flat"],
  [2, "bss"],
  [3, "ss"],
  [4, "bti"],
  [5, "arg"],
  [6, "surf"],
);

/** Bits of an address. */
export const addressSizes = codes<16 | 32 | 64 | null>([1, 16], [2, 32], [3, 64]);

/** Sizes of an element. */
export const dataSizes = codes<string>(
  [1, "d8"],
  [2, "d16"],
  [3, "d32"],
  [4, "d64"],
  [5, "d8c32"],
  [6, "d16c32"],
  [7, "d16c32h"],
  // Their names in later versions.
  [5, "d8u32"],
  [6, "d16u32"],
  [7, "d16u32h"],
);

/** Factors of addresses, each its own code; some writers put 0 for 1. */
export const scales = codes<number>([0, 1], ...[1, 2, 4, 8, 16, 32].map((scale) => [scale, scale] as const));

/** Whether the data are transposed. */
export const orders = codes<boolean>([1, false], [2, true]);

/** Elements per lane. */
export const vectorLengths = codes<number>([1, 1], [2, 2], [3, 3], [4, 4], [5, 8], [6, 16], [7, 32], [8, 64]);
