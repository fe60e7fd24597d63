import { expect, test } from "vitest";
import { type Case, expectSame, inWarps } from "./harness.ts";

/** An operation that all lanes of a warp must execute together, and one that reads what all lanes have. */
const move = "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;";
const store = "st.global.b32 [%out], %r10; activemask.b32 %r11; st.global.b32 [%out+4], %r11; ret;";
const odd = "mov.u32 %r10, %t; and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 1;";

/** Lanes have been apart, and come together where all are needed. */
const together: readonly Case[] = [
  { name: "after a branch", body: `${odd} @%p0 bra JOIN; add.u32 %r10, %r10, 100; JOIN: ${move} ${store}` },
  {
    name: "after a loop of different lengths",
    body: `${odd} and.b32 %r2, %t, 7; AGAIN: add.u32 %r10, %r10, 3; sub.u32 %r2, %r2, 1;
      setp.ge.s32 %p1, %r2, 0; @%p1 bra AGAIN; ${move} ${store}`,
  },
  {
    name: "in each round of a loop in which lanes part",
    body: `${odd} mov.u32 %r3, 0; ROUND: @%p0 bra SKIP; mad.lo.u32 %r10, %r10, 5, 1;
      SKIP: ${move} add.u32 %r10, %r10, %r3; ${move} @%p0 bra OTHER; xor.b32 %r10, %r10, 77;
      OTHER: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 5; @%p1 bra ROUND; ${store}`,
  },
  {
    name: "after lanes that have waited for others",
    body: `${odd} @%p0 bra LATE; shfl.sync.bfly.b32 %r10, %r10, 2, 31, 0x55555555; bra JOIN;
      LATE: add.u32 %r10, %r10, 9; JOIN: ${move} @%p0 bra END; add.u32 %r10, %r10, 1; END: ${store}`,
  },
];

test.each(together.map((c) => [c.name, c] as const))("all lanes are together: %s", (_, c) => {
  const { reports } = expectSame({ ...c, block: [64, 1, 1] }, inWarps);
  expect(reports).toEqual([]);
});

/** Section 9.7.14: the behaviour is undefined if all threads do not execute the same instruction. */
const apart: readonly Case[] = [
  {
    name: "half of them elsewhere at another such instruction",
    body: `${odd} @%p0 bra OTHER; ${move} bra END; OTHER: ${move} add.u32 %r10, %r10, 1; END: ${store}`,
  },
  {
    name: "half of them gone",
    body: `${odd} @%p0 bra END; ${move} END: ${store}`,
  },
];

test.each(apart.map((c) => [c.name, c] as const))("lanes are apart: %s", (_, c) => {
  const { reports } = expectSame({ ...c, tellsWho: false }, inWarps);
  expect(reports).toMatchObject([{ code: "aligned-divergence" }]);
});
