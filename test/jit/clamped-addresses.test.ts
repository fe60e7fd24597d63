import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

// Neighbours whose number is clamped at the borders: inside, the words of a chunk follow each other.

const threads = 96;

/** A variable of so many words, each of another value. */
const table = (space: string, words: number): string =>
  space === "shared"
    ? `.shared .align 4 .b32 table[${words}];`
    : `.global .align 4 .b32 table[${words}] = {${Array.from({ length: words }, (_, i) => 37 * i + 11).join(", ")}};`;

const blocks: readonly Dim3[] = [
  [threads, 1, 1],
  [16, 6, 1],
  [24, 4, 1],
];

/** Loads the word at a clamped distance, after each thread has stored its own if the table is in shared memory. */
const load = (space: string, distance: number, low: number, high: number): string => `
  mov.u64 %d0, table; mad.lo.u32 %r1, %t, 37, 11; mad.wide.u32 %d1, %t, 4, %d0;
  ${space === "shared" ? "st.shared.b32 [%d1], %r1; bar.sync 0;" : ""}
  add.s32 %r2, %t, ${distance}; max.s32 %r2, %r2, ${low}; min.s32 %r2, %r2, ${high};
  mad.wide.s32 %d2, %r2, 4, %d0; ld.${space}.b32 %r3, [%d2];`;

const valueAt = (t: number, distance: number, low: number, high: number): number =>
  37 * Math.min(Math.max(t + distance, low), high) + 11;

for (const space of ["shared", "global"] as const) {
  test.each([
    [-1, 0, threads - 1],
    [1, 0, threads - 1],
    [-40, 0, threads - 1],
    [5, 30, 70],
  ] as const)(`${space} words at a distance of %i, from %i to %i`, (distance, low, high) => {
    const body = `${load(space, distance, low, high)} st.global.b32 [%out], %r3; ret;`;
    for (const block of blocks) {
      const { out, reports } = expectSame({ name: "", before: table(space, threads), body, block, words: 1 });
      expect(reports).toEqual([]);
      expect(out).toEqual(Array.from({ length: threads }, (_, t) => valueAt(t, distance, low, high)));
    }
  });

  test(`${space} words for some threads, where others would be clamped`, () => {
    const body = `mov.u32 %r3, 7; setp.lt.u32 %p1, %t, 3; setp.gt.u32 %p2, %t, 90; or.pred %p1, %p1, %p2;
      mov.u64 %d0, table; mad.wide.u32 %d1, %t, 4, %d0; ${space === "shared" ? "st.shared.b32 [%d1], %t; bar.sync 0;" : ""}
      @%p1 bra $END; add.s32 %r2, %t, -3; max.s32 %r2, %r2, 1; mad.wide.s32 %d2, %r2, 4, %d0;
      ld.${space}.b32 %r3, [%d2]; $END: st.global.b32 [%out], %r3; ret;`;
    for (const block of blocks) {
      expect(expectSame({ name: "", before: table(space, threads), body, block, words: 1 }).reports).toEqual([]);
    }
  });
}

test("what is clamped to beyond the end of a variable is reported", () => {
  const body = `${load("global", 1, 0, threads)} st.global.b32 [%out], %r3; ret;`;
  const { reports } = expectSame({
    name: "",
    before: table("global", threads),
    body,
    block: [threads, 1, 1],
    words: 1,
  });
  expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
});

test("words that are stored at clamped places", () => {
  const body = `mov.u64 %d0, table; min.u32 %r2, %t, 62; add.u32 %r2, %r2, 1; mad.wide.u32 %d2, %r2, 4, %d0;
    setp.lt.u32 %p1, %t, 63; @%p1 st.shared.b32 [%d2], %t; bar.sync 0;
    mad.wide.u32 %d1, %t, 4, %d0; ld.shared.b32 %r3, [%d1]; st.global.b32 [%out], %r3; ret;`;
  for (const block of blocks) {
    const { out } = expectSame({ name: "", before: table("shared", threads), body, block, words: 1 });
    expect(out).toEqual(Array.from({ length: threads }, (_, t) => (t >= 1 && t <= 63 ? t - 1 : 0)));
  }
});

test.each([-4, 0, 4] as const)("two words at one clamped place, %i bytes apart from the first", (apart) => {
  // Thread t loads the words at its clamped place and `apart` bytes further, and stores their difference.
  const body = `${load("global", 2, 1, threads - 2)} ld.global.b32 %r1, [%d2+${apart}];
    sub.u32 %r3, %r1, %r3; st.global.b32 [%out], %r3; ret;`;
  for (const block of blocks) {
    const { out } = expectSame({ name: "", before: table("global", threads), body, block, words: 1 });
    expect(out.map((word) => word | 0)).toEqual(Array.from({ length: threads }, () => (37 * apart) / 4));
  }
});

test.each([
  ["shared", 32],
  ["global", 32],
  ["global", threads],
] as const)("%s words at clamped places in a loop whose checks are made before it: %i threads", (space, count) => {
  const high = count - 1;
  const body = `mov.u32 %r4, 0; $AGAIN: ${load(space, 52, 0, high)} add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 3; @%p1 bra $AGAIN; st.global.b32 [%out], %r3; ret;`;
  const { out, reports } = expectSame({
    name: "",
    before: table(space, count),
    body,
    block: [count, 1, 1],
    words: 1,
  });
  expect(reports).toEqual([]);
  expect(out).toEqual(Array.from({ length: count }, (_, t) => valueAt(t, 52, 0, high)));
});
