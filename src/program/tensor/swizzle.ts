import type { TensorSwizzle } from "../../ir/index.ts";

/**
 * How a swizzle changes an address within a line of 128 bytes (section 5.5.7): it is xored with bits of the line's
 * number. The pattern begins at multiples of its own size, so the address in shared memory alone decides.
 */
interface Pattern {
  /** The bytes between which nothing is exchanged. */
  readonly atom: number;
  /** The bytes that an inner row may have. */
  readonly span: number;
  readonly xor: (line: number) => number;
}

export const swizzlePatterns: Readonly<Record<TensorSwizzle, Pattern>> = {
  none: { atom: 16, span: Infinity, xor: () => 0 },
  "32B": { atom: 16, span: 32, xor: (line) => (line & 1) << 4 },
  "64B": { atom: 16, span: 64, xor: (line) => (line & 3) << 4 },
  "96B": { atom: 16, span: 96, xor: (line) => (line & 1) << 4 },
  "128B": { atom: 16, span: 128, xor: (line) => (line & 7) << 4 },
  "128B_atom_32B": { atom: 32, span: 128, xor: (line) => (line & 3) << 5 },
  "128B_atom_32B_flip_8B": { atom: 8, span: 128, xor: (line) => ((line & 3) << 5) | ((line & 1) << 3) },
  "128B_atom_64B": { atom: 64, span: 128, xor: (line) => (line & 1) << 6 },
};

/** Where the byte lies that would be at `address` of shared memory without the swizzle; the reverse is the same. */
export const swizzled = (swizzle: TensorSwizzle, address: number): number =>
  address ^ swizzlePatterns[swizzle].xor(address >>> 7);
