import { expect, test } from "vitest";
import type { TensorSwizzle } from "../../../src/ir/index.ts";
import { swizzled } from "../../../src/program/tensor/swizzle.ts";

/** The tables of section 5.5.7: by line of 128 bytes, which 16 bytes lie at each place. */
const tables: Readonly<Record<string, readonly string[]>> = {
  none: ["01234567", "01234567"],
  "32B": ["01234567", "10325476"],
  "64B": ["01234567", "10325476", "23016745", "32107654"],
  "96B": ["01234567", "10325476"],
  "128B": ["01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"],
  "128B_atom_32B": ["01234567", "23016745", "45670123", "67452301"],
  "128B_atom_64B": ["01234567", "45670123"],
};

test.each(Object.entries(tables))("swizzle %s has the manual's table", (name, lines) => {
  // The pattern repeats; a second round begins at the next multiple of its size.
  for (let line = 0; line < 2 * lines.length; line++) {
    const expected = [...lines[line % lines.length]!].map(Number);
    const found: number[] = [];
    for (let chunk = 0; chunk < 8; chunk++) {
      const at = swizzled(name as TensorSwizzle, 128 * line + 16 * chunk);
      expect(at >> 7).toBe(line);
      found[(at & 127) / 16] = chunk;
    }
    expect(found).toEqual(expected);
  }
});

test("the 8-byte flip exchanges the halves of 16 bytes in every other line", () => {
  const halves = [0, 1, 2, 3].map((line) => swizzled("128B_atom_32B_flip_8B", 128 * line) & 15);
  expect(halves).toEqual([0, 8, 0, 8]);
  for (let at = 0; at < 1024; at += 8) {
    const plain = swizzled("128B_atom_32B", at);
    const flipped = swizzled("128B_atom_32B_flip_8B", at);
    expect(flipped).toBe((at >> 7) % 2 === 0 ? plain : plain ^ 8);
  }
});

test("a swizzle is its own inverse", () => {
  for (const name of [
    "32B",
    "64B",
    "96B",
    "128B",
    "128B_atom_32B",
    "128B_atom_32B_flip_8B",
    "128B_atom_64B",
  ] as const) {
    for (let at = 0; at < 2048; at += 8) expect(swizzled(name, swizzled(name, at))).toBe(at);
  }
});
