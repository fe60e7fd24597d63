import { Elements, type ElementType } from "../data/element.ts";
import { type LcgInit, noise, ramp, repeated } from "./fill.ts";

export type { LcgInit } from "./fill.ts";

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
      for (let i = 0; i < n; i++) into.set(i, init.values[i] ?? 0);
      return into;
    case "fill":
      repeated(into, init.value);
      return into;
    case "iota":
      ramp(into, init.start, init.step);
      return into;
    case "lcg":
      noise(into, init);
      return into;
  }
}
