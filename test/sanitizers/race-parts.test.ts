import fc from "fast-check";
import { expect, test } from "vitest";
import type { Observer } from "../../src/machine/events.ts";
import type { Warp } from "../../src/machine/state/launch-state.ts";
import { Device } from "../../src/runtime/index.ts";
import { type Clock, join, lanesAt, ThreadNumbers } from "../../src/sanitizers/race/clock.ts";
import { AccessEvents } from "../../src/sanitizers/race/events.ts";
import { PublishedValues } from "../../src/sanitizers/race/published.ts";
import { Page } from "../../src/sanitizers/race/shadow.ts";
import { WarpOrder } from "../../src/sanitizers/race/warp-order.ts";

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
  for (let cell = 0; cell < 4; cell++) {
    page.write(cell, page.entryOf(100 + cell) | cell);
    page.readToo(cell, page.entryOf(200 + cell) | cell);
  }
  const told = (cells: Uint16Array) => [...cells].map((entry) => [page.eventOf(entry), entry & 31]);
  for (const to of [shift, 0] as const) {
    if (page.shift !== to) page.split(to);
    const cells = Array.from({ length: 16 >> to }, (_, i) => (i << to) >> 2);
    expect(told(page.writers)).toEqual(cells.map((cell) => [100 + cell, cell]));
    expect(told(page.otherReaders)).toEqual(cells.map((cell) => [200 + cell, cell]));
    expect(page.readers.every((entry) => entry === 0)).toBe(true);
  }
});

test("a page forgets events that are in no cell", () => {
  const page = new Page(1024);
  for (let event = 1; event <= 5000; event++) page.write(event % 16, page.entryOf(event) | (event & 31));
  expect(page.events.length).toBe(32);
  const found = [...page.writers.subarray(0, 16)].map((entry) => [page.eventOf(entry), entry & 31]);
  const last = Array.from({ length: 16 }, (_, i) => 4992 + i + (i > 8 ? -16 : 0));
  expect(found).toEqual(last.map((event) => [event, event & 31]));
});

test("of more events than a page can keep it forgets the oldest", () => {
  const page = new Page(1024);
  page.split(0);
  for (let i = 0; i < 1024; i++) {
    page.write(i, page.entryOf(1 + 2 * i));
    page.read(i, page.entryOf(2 + 2 * i));
  }
  const left = (cells: Uint16Array) => [...cells].map((entry) => page.eventOf(entry));
  const [writers, readers] = [left(page.writers), left(page.readers)];
  const oldest = writers.findIndex((event) => event !== 0);
  expect(oldest).toBeLessThan(1024 - 256);
  expect(writers).toEqual(writers.map((_, i) => (i < oldest ? 0 : 1 + 2 * i)));
  expect(readers.slice(oldest)).toEqual(writers.slice(oldest).map((event) => event + 1));
  expect(page.events.length).toBe(1024);
});

test.each([
  ["bytes", 0, 8],
  ["halves of words", 1, 5],
  ["words", 2, 3.5],
] as const)("%s that warps write and two others read are remembered in a few bytes for each", (_, shift, most) => {
  const page = new Page(1024);
  if (shift < 2) page.split(shift);
  for (let cell = 0; cell < page.cells; cell++) {
    const [write, read] = [1 + (cell % 100), 101 + (cell % 100)].map((event) => page.entryOf(event));
    page.write(cell, write! | (cell & 31));
    page.readToo(cell, page.readers[cell]!);
    page.read(cell, read! | (cell & 31));
  }
  const { writers, readers, otherReaders, otherWriters, events } = page;
  const bytes = new Set([writers, readers, otherReaders, events]);
  expect([...bytes].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThanOrEqual(most * 1024);
  expect(otherWriters.every((entry) => entry === 0)).toBe(true);
});

test("the strong writes of one instruction after a fence share what they publish", () => {
  const warp = { cta: { ticket: 0 }, index: 0, lockstep: false, live: -1 } as unknown as Warp;
  const order = new WarpOrder(warp, threads, 1);
  const kind = new AccessEvents().kindOf(accessSites().find(({ instruction }) => instruction.op.kind === "atomic")!);
  const values = new PublishedValues(() => 3);
  const page = new Page(128);
  order.fence(-1, 2, true);
  values.begin();
  for (let lane = 0; lane < 32; lane++) values.access(kind, page, lane, order, lane, -1);
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

test("events that no table has are forgotten, the others keep what they say", () => {
  const events = new AccessEvents();
  const kinds = accessSites().map((site) => events.kindOf(site));
  const warp = { cta: { ticket: 7 }, index: 1, lockstep: false, live: -1 } as unknown as Warp;
  const order = new WarpOrder(warp, threads, 1);
  const numbers = Array.from({ length: 100 }, (_, i) => {
    order.now = i + 1;
    return events.of(kinds[i % 2]!, order);
  });
  expect(new Set(numbers).size).toBe(100);
  const table = Int32Array.of(0, numbers[39]!, 0, numbers[6]!, numbers[99]!);
  events.renumber([table]);
  expect([...table]).toEqual([0, 2, 0, 1, 3]);
  expect(events.times).toEqual([0, 7, 40, 100]);
  expect(events.warps).toEqual([0, 22, 22, 22]);
  expect([1, 2, 3].map((event) => events.kindAt(event))).toEqual([kinds[0], kinds[1], kinds[1]]);
  expect(events.of(kinds[1]!, order)).toBe(4);
  expect(events.of(kinds[1]!, order)).toBe(4);
});
