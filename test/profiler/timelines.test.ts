import { expect, test } from "vitest";
import { Device, Profiler, profileOf } from "../../src/index.ts";

test.each([
  [undefined, 4],
  [0, 0],
  [6, 6],
  [40, 10],
])("a launch of ten warps, with %s timelines requested, has %i", (timelinesOfLaunch, kept) => {
  const profiler = new Profiler(timelinesOfLaunch === undefined ? {} : { timelinesOfLaunch });
  const module = new Device().load(".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { ret; }");
  module.kernel("k").launch({ grid: 5, block: 64, args: [], observers: [profiler] });
  const { timelines } = profileOf(profiler);
  expect(timelines.map(({ block, warp }) => [...block, warp])).toEqual(
    Array.from({ length: kept }, (_, i) => [Math.floor(i / 2), 0, 0, i % 2]),
  );
});
