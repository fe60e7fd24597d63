import { describe, expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

// Branches whose ways come together again after a few instructions: the lanes of a chunk stay together. What each
// thread computes is told here in TypeScript.

const threads = 96;
const blocks: readonly Dim3[] = [
  [threads, 1, 1],
  [16, 6, 1],
  [32, 3, 1],
];

/** `%r1` is what a thread computes; it begins as its number times 3. `%t`: its number, `%r0`: 12, in all threads. */
interface Shape {
  readonly name: string;
  readonly body: string;
  readonly value: (t: number) => number;
}

const below = (p: number, limit: number | string): string => `setp.lt.u32 %p${p}, %t, ${limit};`;
const shapes: readonly Shape[] = [
  {
    name: "an if within an if",
    body: `${below(1, 50)} @!%p1 bra L_END; add.u32 %r1, %r1, 100; ${below(2, 9)} @!%p2 bra L_INNER;
      mul.lo.u32 %r1, %r1, 7; L_INNER: xor.b32 %r1, %r1, 5; L_END:`,
    value: (t) => (t < 50 ? ((3 * t + 100) * (t < 9 ? 7 : 1)) ^ 5 : 3 * t),
  },
  {
    name: "an if at the end of an if",
    body: `${below(1, 50)} @!%p1 bra L_END; add.u32 %r1, %r1, 100; ${below(2, 9)} @!%p2 bra L_END;
      mul.lo.u32 %r1, %r1, 7; L_END:`,
    value: (t) => (t < 50 ? (3 * t + 100) * (t < 9 ? 7 : 1) : 3 * t),
  },
  {
    name: "an if with an else",
    body: `${below(1, 37)} @!%p1 bra L_ELSE; mul.lo.u32 %r1, %r1, %r1; bra L_END; L_ELSE: sub.u32 %r1, %r1, 9; L_END:`,
    value: (t) => (t < 37 ? 9 * t * t : 3 * t - 9),
  },
  {
    name: "an else that is written first",
    body: `${below(1, 37)} @%p1 bra L_THEN; bra L_END; L_THEN: add.u32 %r1, %r1, 1000; L_END:`,
    value: (t) => 3 * t + (t < 37 ? 1000 : 0),
  },
  {
    name: "one of four ways",
    body: `and.b32 %r2, %t, 3; setp.eq.u32 %p1, %r2, 0; @%p1 bra L_ZERO; setp.eq.u32 %p2, %r2, 1; @%p2 bra L_ONE;
      setp.eq.u32 %p3, %r2, 2; @%p3 bra L_TWO; add.u32 %r1, %r1, 30; bra L_END; L_TWO: mul.lo.u32 %r1, %r1, 20;
      bra L_END; L_ONE: add.u32 %r1, %r1, 10; L_ZERO: xor.b32 %r1, %r1, 1; L_END:`,
    value: (t) => [(3 * t) ^ 1, (3 * t + 10) ^ 1, 60 * t, 3 * t + 30][t & 3]!,
  },
  {
    name: "an inner branch that all threads take",
    body: `${below(1, 50)} @!%p1 bra L_END; add.u32 %r1, %r1, 1; setp.eq.u32 %p2, %r0, 12; @%p2 bra L_OUT;
      mul.lo.u32 %r1, %r1, 7; L_OUT: add.u32 %r1, %r1, 2; L_END:`,
    value: (t) => 3 * t + (t < 50 ? 3 : 0),
  },
  {
    name: "an inner branch that no thread takes, and one to the next instruction",
    body: `${below(1, 50)} @!%p1 bra L_END; add.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r0, 12; @%p2 bra L_OUT;
      mul.lo.u32 %r1, %r1, 7; ${below(3, 20)} @%p3 bra L_OUT; L_OUT: add.u32 %r1, %r1, 2; L_END:`,
    value: (t) => (t < 50 ? 7 * (3 * t + 1) + 2 : 3 * t),
  },
  {
    name: "an if that changes its own predicate, and one that the code after it reads",
    body: `${below(1, 50)} ${below(4, 5)} @!%p1 bra L_END; setp.gt.u32 %p1, %t, 45; ${below(4, 30)} @%p1 bra L_END;
      add.u32 %r1, %r1, 4; L_END: @%p1 add.u32 %r1, %r1, 1000; @%p4 add.u32 %r1, %r1, 5000;`,
    value: (t) => 3 * t + (t <= 45 ? 4 : 0) + (t > 45 && t < 50 ? 1000 : 0) + (t < 30 ? 5000 : 0),
  },
];

describe("ways that come together again", () => {
  test.each(shapes)("$name", ({ body, value }) => {
    const text = `mul.lo.u32 %r1, %t, 3; mov.u32 %r0, %n; div.u32 %r0, %r0, 8; ${body} st.global.b32 [%out], %r1; ret;`;
    for (const block of blocks) {
      const { out, reports } = expectSame({ name: "", body: text, block, words: 1 });
      expect(reports).toEqual([]);
      expect(out).toEqual(Array.from({ length: threads }, (_, t) => value(t) | 0));
    }
  });
});

describe("memory for some of the threads", () => {
  const before = `.shared .align 4 .b32 s[${threads}];`;
  const own =
    "mov.u32 %r9, s; mad.lo.u32 %r10, %t, 4, %r9; mul.lo.u32 %r1, %t, 3; st.shared.b32 [%r10], %r1; bar.sync 0;";
  const end = "bar.sync 0; ld.shared.b32 %r2, [%r10]; st.global.b32 [%out], %r2; ret;";

  // The last thread's neighbour is after the end of the variable: it does not read it.
  test.each([3, 16, 40, threads - 1])("the sum with the next word, for the first %i threads", (count) => {
    const sum = `${own} ${below(1, count)} mov.u32 %r4, 0; @!%p1 bra L_A; ld.shared.b32 %r3, [%r10+4];
      ld.shared.b32 %r5, [%r10]; add.u32 %r4, %r3, %r5; L_A: bar.sync 0; @!%p1 bra L_B; st.shared.b32 [%r10], %r4;
      L_B: ${end}`;
    for (const block of blocks) {
      const { out, reports } = expectSame({ name: "", before, body: sum, block, words: 1 });
      expect(reports).toEqual([]);
      expect(out).toEqual(Array.from({ length: threads }, (_, t) => (t < count ? 6 * t + 3 : 3 * t)));
    }
  });

  test.each([
    [2, 93],
    [20, 60],
    [0, 95],
  ])("the sum of neighbours that are clamped to %i and %i, within these", (low, high) => {
    const sum = `${own} setp.gt.u32 %p1, %t, ${low}; setp.lt.u32 %p2, %t, ${high}; and.pred %p1, %p1, %p2;
      sub.s32 %r3, %t, 1; max.s32 %r3, %r3, ${low}; add.s32 %r4, %t, 1; min.s32 %r4, %r4, ${high};
      mad.lo.u32 %r3, %r3, 4, %r9; mad.lo.u32 %r4, %r4, 4, %r9; mov.u32 %r7, 0;
      @!%p1 bra L_A; ld.shared.b32 %r5, [%r3]; ld.shared.b32 %r6, [%r4]; mad.lo.u32 %r7, %r5, 1000, %r6;
      L_A: bar.sync 0; @!%p1 bra L_B; st.shared.b32 [%r10], %r7; L_B: ${end}`;
    for (const block of blocks) {
      const { out, reports } = expectSame({ name: "", before, body: sum, block, words: 1 });
      expect(reports).toEqual([]);
      const value = (t: number): number => (t > low && t < high ? 3000 * (t - 1) + 3 * (t + 1) : 3 * t);
      expect(out).toEqual(Array.from({ length: threads }, (_, t) => value(t)));
    }
  });

  test.each([
    [60, "an inner if that leads beyond the end of the variable"],
    [2000, "one that no thread comes to"],
  ])("from thread %i on: %s", (from) => {
    const body = `${own} ${below(1, 90)} @!%p1 bra L_END; setp.lt.u32 %p2, %t, ${from}; @%p2 bra L_END;
      ld.shared.b32 %r3, [%r10+256]; st.shared.b32 [%r10], %r3; L_END: ${end}`;
    for (const block of blocks) {
      const { reports } = expectSame({ name: "", before, body, block, words: 1 });
      expect(reports.length).toBe(from < threads ? 1 : 0);
    }
  });
});
