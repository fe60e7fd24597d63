import { expect, test } from "vitest";
import { isClock } from "../../../src/ir/clock.ts";
import {
  isSameInBlock,
  lifetimeOf,
  specialShape,
  specialsOf,
} from "../../../src/jit/compile/analysis/values/special-registers.ts";
import type { SpecialName } from "../../../src/semantics/index.ts";
import { Analysed, anyBlock, oneRow } from "./analysed.ts";

test.each([
  ["ntid.x", "grid"],
  ["dynamic_smem_size", "grid"],
  ["ctaid.z", "block"],
  ["tid.x", "chunk"],
  ["laneid", "chunk"],
  // Warps of a block are on one multiprocessor, but which one is asked for each time.
  ["smid", "chunk"],
  ["clock64", "code"],
] as const)("%s stays the same within a %s", (name, lifetime) => {
  expect(lifetimeOf(name)).toBe(lifetime);
  expect(isSameInBlock(name)).toBe(lifetime === "grid" || lifetime === "block");
  expect(isClock(name)).toBe(lifetime === "code");
});

const shapeOf = (name: SpecialName, shape = oneRow) => specialShape({ kind: "special", ty: "i32", name }, shape);

test("a chunk's thread numbers begin with a multiple of its lanes, if it lies in a row", () => {
  expect(shapeOf("tid.x")).toEqual({ kind: "affine", stride: 1, width: 16 });
  expect(shapeOf("tid.y")).toEqual({ kind: "uniform" });
  expect(shapeOf("tid.x", anyBlock)).toEqual({ kind: "vector" });
  expect(shapeOf("tid.y", anyBlock)).toEqual({ kind: "vector" });
});

test("where a chunk has threads of several rows, numbers go along both", () => {
  const rows = { ...anyBlock, rowLength: 8 };
  expect(shapeOf("tid.x", rows)).toEqual({ kind: "rows", rows: { x: 1, y: 0, length: 8, lanes: 16, areWhole: true } });
  expect(shapeOf("tid.y", rows)).toEqual({ kind: "rows", rows: { x: 0, y: 1, length: 8, lanes: 16, areWhole: true } });
  expect(shapeOf("tid.z", rows)).toEqual({ kind: "vector" });
});

test("hardware threads have as many lanes as they like: their numbers are multiples of nothing", () => {
  expect(shapeOf("tid.x", { ...oneRow, width: 8 })).toEqual({ kind: "affine", stride: 1 });
});

test("special registers bring along those from which they are computed", () => {
  const { code } = new Analysed("mov.u32 %r1, %tid.z;\nret;");
  expect([...specialsOf(code.instructions)].sort()).toEqual(["ntid.x", "ntid.y", "tid.x", "tid.y", "tid.z"]);
});
