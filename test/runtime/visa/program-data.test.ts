import { expect, test } from "vitest";
import { loadedData } from "../../../src/runtime/visa/program-data.ts";

const data = (sections: Record<string, readonly number[]>, symbols: Record<string, readonly [string, number]>) =>
  loadedData({
    sections: new Map(Object.entries(sections).map(([name, bytes]) => [name, Uint8Array.from(bytes)])),
    symbols: new Map(Object.entries(symbols).map(([name, [section, offset]]) => [name, { section, offset }])),
  });

test("zeros come after the values of their section", () => {
  // As IGC 2.40 writes `__global int G = 5; __global int Z[2];`: both symbols count from `.data.global`.
  const { sections, symbols } = data(
    { ".data.global": [5, 0, 0, 0], ".bss.global": new Array<number>(8).fill(0), ".data.const.string": [65, 0] },
    { G: [".data.global", 0], Z: [".data.global", 4], ".str": [".data.const.string", 0] },
  );
  expect([...sections]).toEqual([
    [".data.global", Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
    [".data.const.string", Uint8Array.of(65, 0)],
  ]);
  expect(symbols.get("Z")).toEqual({ section: ".data.global", offset: 4 });
});

test("zeros alone take the place of the values", () => {
  const { sections, symbols } = data({ ".bss.const": [0, 0] }, { Z: [".bss.const", 1] });
  expect([...sections]).toEqual([[".data.const", Uint8Array.of(0, 0)]]);
  expect(symbols.get("Z")).toEqual({ section: ".data.const", offset: 1 });
});

test("a symbol may be relative to the zeros", () => {
  const { symbols } = data({ ".data.const": [1, 2], ".bss.const": [0, 0] }, { Z: [".bss.const", 1] });
  expect(symbols.get("Z")).toEqual({ section: ".data.const", offset: 3 });
});
