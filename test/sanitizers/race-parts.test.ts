import fc from "fast-check";
import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { type Clock, join, lanesAt, ThreadNumbers } from "../../src/sanitizers/race/clock.ts";
import { PublishedValues } from "../../src/sanitizers/race/published.ts";
import { nextCell, Page } from "../../src/sanitizers/race/shadow.ts";
import { Stamps } from "../../src/sanitizers/race/stamps.ts";
import { WarpOrder } from "../../src/sanitizers/race/warp-order.ts";
import type { Warp } from "../../src/machine/warp.ts";
import type { Observer } from "../../src/machine/events.ts";

const [blocks, warps] = [40, 3];
const threads = new ThreadNumbers(blocks, warps);

/** What somebody learns: all of a block, some lanes of a warp. */
const lesson = fc.record({
  block: fc.nat(blocks - 1),
  warp: fc.option(fc.nat(warps - 1)),
  mask: fc.oneof(fc.constant(-1), fc.integer()),
  time: fc.integer({ min: 1, max: 50 }),
});

const clockOf = ({
  block,
  warp,
  mask,
  time,
}: {
  block: number;
  warp: number | null;
  mask: number;
  time: number;
}): Clock => (warp === null ? threads.ofBlock(block, time) : threads.ofWarp(block, warp, lanesAt(mask, time)));

test("a clock has for each thread the latest time that it was told", () => {
  fc.assert(
    fc.property(fc.array(lesson, { maxLength: 12 }), fc.array(lesson, { maxLength: 12 }), (left, right) => {
      const clock = [left, right]
        .map((lessons) => lessons.reduce((known: Clock, l) => join(known, clockOf(l)), 0))
        .reduce(join);
      for (const { block, warp } of [...left, ...right]) {
        for (let lane = 0; lane < 32; lane++) {
          const at = warp ?? 0;
          const told = [...left, ...right].filter(
            (l) => l.block === block && (l.warp === null || (l.warp === at && (l.mask >>> lane) & 1)),
          );
          const latest = Math.max(0, ...told.map(({ time }) => time));
          expect(threads.timeOf(clock, block, at, lane)).toBe(latest);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("of two clocks, one that has all of the other is given back as it is", () => {
  const less = threads.ofWarp(7, 1, 5);
  const more = join(less, threads.ofBlock(9, 3));
  expect(join(more, less)).toBe(more);
  expect(join(less, more)).toBe(more);
});

test.each([1, 0] as const)("a cell that is split into parts of 2 ** %i bytes is in each what it was", (shift) => {
  const page = new Page(16);
  const cells = [0, 1, 2, 3].map((i) => [10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3]);
  page.first.set(cells.flat());
  page.split(shift);
  const parts = 4 >> shift;
  expect([...page.first]).toEqual(cells.flatMap((cell) => Array.from({ length: parts }, () => cell)).flat());
  page.split(0);
  expect([...page.first]).toEqual(cells.flatMap((cell) => Array.from({ length: 4 }, () => cell)).flat());
});

test("the strong writes of one instruction behind a fence share what they publish", () => {
  const warp = { cta: { ticket: 0 }, index: 0, lockstep: false, live: -1 } as unknown as Warp;
  const order = new WarpOrder(warp, threads, 1);
  const kind = new Stamps().kindOf(accessSites().find(({ instruction }) => instruction.op.kind === "atomic")!);
  const values = new PublishedValues(() => 3);
  const page = new Page(128);
  order.fence(-1, 2, true);
  values.begin();
  for (let lane = 0; lane < 32; lane++) values.access(kind, page, lane * nextCell, order, lane, -1);
  expect(page.published?.every((value) => value !== null)).toBe(true);
  expect(new Set(page.published).size).toBe(1);
  page.split(0);
  expect(page.published?.map((value) => value !== null)).toEqual(Array.from({ length: 128 }, (_, i) => i % 4 === 0));
});

/** The sites of the loads and stores of a kernel. */
function accessSites() {
  const device = new Device();
  const sites = new Set<Parameters<NonNullable<Observer["access"]>>[0]["site"]>();
  const text = `.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) { .reg .b64 %o; .reg .b32 %r; ld.param.u64 %o, [out]; ld.global.u32 %r, [%o]; st.global.u32 [%o], %r; red.global.add.u32 [%o], 1; ret; }`;
  const observers = [{ access: ({ site }) => void sites.add(site) } satisfies Observer];
  device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: 1, args: [device.buffer("u32", 1)], observers });
  return [...sites];
}

test("stamps that are in no cell are forgotten, the others keep what they say", () => {
  const stamps = new Stamps();
  const [a, b] = accessSites().map((site) => stamps.kindOf(site));
  const page = new Page(16);
  for (let time = 1; time <= 100; time++) stamps.stamp(time % 2 === 0 ? a! : b!, time);
  const kept = [7, 40, 41];
  kept.forEach((stamp, i) => {
    page.first[4 * i] = 1000 + i;
    page.first[4 * i + 1] = stamp;
  });
  stamps.renumber([page.first]);
  const now = kept.map((_, i) => page.first[4 * i + 1]!);
  expect(now.map((stamp) => stamps.times[stamp])).toEqual([7, 40, 41]);
  expect(now.map((stamp) => stamps.kindAt(stamp))).toEqual([b, a, b]);
  expect(stamps.times.length).toBe(4);
  expect([page.first[0], page.first[4], page.first[8], page.first[13]]).toEqual([1000, 1001, 1002, 0]);
  expect(stamps.stamp(a!, 100)).toBe(4);
});
