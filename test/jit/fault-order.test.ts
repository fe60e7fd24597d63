import { expect, test } from "vitest";
import { type Case, expectSame } from "./harness.ts";

/** Several lanes of a warp go wrong, and not those with the lowest numbers first. */
const cases: readonly Case[] = [
  {
    name: "high lanes at the first instruction, low ones at the next",
    body: `mov.b64 %d1, 0; setp.ge.u32 %p0, %t, 20; @%p0 ld.global.u32 %r1, [%d1];
setp.lt.u32 %p0, %t, 4; @%p0 st.global.u32 [%d1+4], %t;`,
  },
  {
    name: "high lanes in an early round",
    body: `mov.b64 %d1, 0; mov.u32 %r1, 0; sub.u32 %r5, 31, %t;
again: setp.eq.u32 %p0, %r1, %r5; mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %d1; @%p0 ld.global.u32 %r2, [%d2];
add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 40; @%p0 bra again;`,
  },
  {
    name: "low lanes go the way that comes later",
    body: `mov.b64 %d1, 0; setp.lt.u32 %p0, %t, 16; @%p0 bra later; trap; later: ld.global.u32 %r1, [%d1];`,
  },
  {
    name: "all lanes alike, of a warp that is not the first",
    body: `mov.b64 %d1, 0; setp.gt.u32 %p0, %t, 40; @%p0 ld.global.u32 %r1, [%d1];`,
    block: [64, 1, 1],
  },
];

test.each(cases)("$name: the fault is that which the warp comes to first", (c) => {
  const { reports } = expectSame(c);
  expect(reports.length).toBe(1);
});
