import type { DataType } from "../types.ts";
import type { OperandSpec } from "./row.ts";

/** Every way to write some of these letters, in order, with the sum of their values; "" stands for none of them. */
export function subsets(
  letters: readonly (readonly [name: string, value: number])[],
): Readonly<Record<string, number>> {
  const found: [string, number][] = [["", 0]];
  for (const [name, value] of letters) found.push(...found.map(([n, v]): [string, number] => [n + name, v + value]));
  return Object.fromEntries(found);
}

const { "": _, ...masks } = subsets([
  ["R", 1],
  ["G", 2],
  ["B", 4],
  ["A", 8],
]);

/** The channels of an access, such as `.RGBA`; bit 0 is R. */
export const channels: OperandSpec = { class: "option", choices: masks };

/** A scalar operand that gives an address, an offset or a size. */
export const scalar = (...types: readonly DataType[]): OperandSpec => ({
  class: "vector",
  role: "src",
  forms: ["general", "indirect", "immediate"],
  types,
  scalar: true,
  modifiers: "none",
});

export const rawDst = (...types: readonly DataType[]): OperandSpec => raw("dst", types);
export const rawSrc = (...types: readonly DataType[]): OperandSpec => raw("src", types);
const raw = (role: "dst" | "src", types: readonly DataType[]): OperandSpec =>
  types.length === 0 ? { class: "raw", role } : { class: "raw", role, types };

export const surface: OperandSpec = { class: "surface" };
export const sampler: OperandSpec = { class: "sampler" };

/** A count that is a power of two. Files hold its logarithm. */
export const powers = (...counts: readonly number[]): OperandSpec => ({
  class: "option",
  choices: Object.fromEntries(counts.map((count) => [String(count), Math.log2(count)])),
});

/** Numbers by their width in a file. */
export const byte: OperandSpec = { class: "number", from: 0, to: 0xff };
export const word: OperandSpec = { class: "number", from: 0, to: 0xffff };
export const dword: OperandSpec = { class: "number", from: 0, to: 0xffff_ffff };

/** Atomic operations with their codes in files. */
export const atomicOps: OperandSpec = {
  class: "option",
  choices: {
    add: 0,
    sub: 1,
    inc: 2,
    dec: 3,
    min: 4,
    max: 5,
    xchg: 6,
    cmpxchg: 7,
    and: 8,
    or: 9,
    xor: 10,
    minsint: 11,
    maxsint: 12,
    predec: 13,
    fmax: 16,
    fmin: 17,
    fcmpwr: 18,
    fadd: 19,
    fsub: 20,
  },
};

/** Bits of the elements of an atomic operation. In a file they are bits 5 and 6 of the operation's code. */
export const atomicWidth = (...widths: readonly ("16" | "32" | "64")[]): OperandSpec => ({
  class: "option",
  choices: Object.fromEntries(widths.map((width) => [width, { "16": 0x20, "32": 0, "64": 0x40 }[width]])),
  byDefault: "32",
});
