import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type CountName, Device, Profiler, profileOf } from "../../src/index.ts";

const example = (name: string): string => readFileSync(new URL(`../../examples/${name}`, import.meta.url), "utf8");

/** 20 of 32 work items, 16 to a hardware thread: 16 lanes of the first thread have work, and 4 of the second. */
test("a vISA kernel: messages are accesses, hardware threads are warps", () => {
  const device = new Device();
  const profiler = new Profiler();
  const module = device.load([{ path: "saxpy.visaasm", text: example("saxpy.visaasm") }], {
    zeinfo: parse(example("saxpy.yaml")),
  });
  const x = device.buffer(Float32Array.from({ length: 32 }, (_, i) => i));
  const y = device.buffer("f32", 32);
  const result = module.kernel("saxpy").launch({ global: 32, local: 16, args: [20, 2.5, x, y], observers: [profiler] });
  expect(result.reports).toEqual([]);
  const profile = profileOf(profiler);
  const counts = (text: string, ...names: CountName[]): number[][] =>
    profile.lines
      .filter((l) => l.source.line(l.line).trim().startsWith(text))
      .map(({ counts: c }) => names.map((name) => c[name]));

  // 64 bytes are two sectors, 16 are one.
  const moved = [2, 80, 3, 3];
  expect(counts("gather4_scaled", "globalRequests", "globalBytes", "globalSectors", "globalLeastSectors")).toEqual([
    moved,
    moved,
  ]);
  expect(counts("scatter4_scaled", "globalRequests", "globalBytes", "globalSectors", "globalLeastSectors")).toEqual([
    moved,
  ]);
  // In the second thread 12 lanes leave; all 32 evaluate the branch.
  expect(counts("(!P1) goto", "branches", "divergentBranches", "reachedLanes", "threadInstructions")).toEqual([
    [2, 1, 32, 32],
  ]);
  // Executed by one lane, for one lane.
  expect(counts("movs (M1_NM, 1)", "laneSlots", "threadInstructions")).toEqual([
    [2, 2],
    [2, 2],
    [2, 2],
  ]);
  expect(counts("mad (M1, 16)", "laneSlots", "threadInstructions")).toEqual([[32, 20]]);
  expect(profile.launches).toMatchObject([{ kernel: "saxpy", warps: 2 }]);
  expect(profile.timelines.map(({ width, lanes }) => [width, lanes])).toEqual([
    [16, 0xffff],
    [16, 0xffff],
  ]);
});
