import { describe, expect, test } from "vitest";
import { type Case, expectSame, inWarps } from "./harness.ts";

/** Threads of a block: the last warp is not full. */
const block = [100, 1, 1] as const;

const shared = ".shared .b32 box[128];";
const place = "shl.b32 %r1, %t, 2; mov.u32 %r0, box; add.u32 %r1, %r0, %r1;";
/** Each thread shows its neighbour a number; `meet` stands between. */
const exchange = (meet: string): string => `${place} mul.lo.u32 %r2, %t, 7; st.shared.u32 [%r1], %r2;
${meet}
add.u32 %r3, %t, 33; rem.u32 %r3, %r3, 100; shl.b32 %r3, %r3, 2; add.u32 %r3, %r0, %r3; ld.shared.u32 %r4, [%r3];
st.global.u32 [%out], %r4;`;

const cases: readonly Case[] = [
  { name: "a named barrier", body: exchange("bar.sync 3;") },
  { name: "a number in a register", body: exchange("mov.u32 %r9, 5; barrier.sync %r9;") },
  { name: "a count of all threads", body: exchange("bar.sync 0, 128;") },
  {
    name: "arrivals in two steps at one barrier after the other",
    body: exchange("bar.sync 1; bar.sync 2, 128; bar.sync 1;"),
  },
  {
    name: "producers arrive, consumers wait",
    body: `${place} setp.ge.u32 %p0, %t, 64; @%p0 bra consume;
mul.lo.u32 %r2, %t, 9; st.shared.u32 [%r1], %r2; bar.arrive 4, 128; bra done;
consume: bar.sync 4, 128; sub.u32 %r3, %r1, 256; ld.shared.u32 %r4, [%r3]; st.global.u32 [%out], %r4;
done:`,
  },
  {
    name: "two parties at barriers of their own, in a loop",
    body: `${place} setp.lt.u32 %p0, %t, 32; selp.u32 %r5, 1, 2, %p0; selp.u32 %r6, 32, 96, %p0; mov.u32 %r7, 0;
again: st.shared.u32 [%r1], %r7; bar.sync %r5, %r6; ld.shared.u32 %r4, [box+140]; bar.sync %r5, %r6;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 5; @%p1 bra again; st.global.v2.u32 [%out], {%r4, %r7};`,
  },
  {
    name: "how many threads say yes, whether all, whether any",
    body: `and.b32 %r2, %t, 3; setp.eq.u32 %p0, %r2, 1; setp.lt.u32 %p3, %t, 200; mov.u32 %r5, 77;
bar.red.popc.u32 %r5, 0, %p0; bar.red.and.pred %p1, 1, %p3; barrier.red.or.pred %p2, 2, 128, !%p3;
selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 1, 0, %p2; st.global.v4.u32 [%out], {%r5, %r6, %r7, %r2};`,
  },
  {
    name: "a reduction that only some warps take part in",
    body: `setp.lt.u32 %p0, %t, 64; mov.u32 %r5, 3; setp.lt.u32 %p1, %t, 40;
@%p0 bar.red.popc.u32 %r5, 6, 64, %p1; st.global.u32 [%out], %r5;`,
  },
  {
    name: "half of a warp comes to another barrier, and goes on past the place at which the rest are released",
    body: `${place} and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 0; mov.u32 %r5, 1; st.shared.u32 [%r1], %t;
@%p0 bra other; bar.sync 0; add.u32 %r5, %r5, 10; setp.gt.u32 %p1, %t, 20; @%p1 bra done; add.u32 %r5, %r5, 100; bra done;
other: bar.sync 0; add.u32 %r5, %r5, 1000; activemask.b32 %r6;
done: xor.b32 %r3, %t, 1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r0, %r3; ld.shared.u32 %r4, [%r3];
activemask.b32 %r7; st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};`,
  },
  {
    name: "warps that have ended are not waited for",
    body: `setp.ge.u32 %p0, %t, 96; @%p0 ret; bar.sync 7; setp.ge.u32 %p0, %t, 64; @%p0 exit;
bar.red.popc.u32 %r5, 0, 1; st.global.u32 [%out], %r5;`,
  },
];

/** Of 31 lanes, all but the sign of a mask. */
test.each([31, 63, 1023])("a warp that lacks one lane, in a block of %i threads", (threads) => {
  const body = "bar.red.popc.u32 %r5, 0, 1; bar.sync 0; st.global.u32 [%out], %r5;";
  const { reports, out } = expectSame({ name: "31 lanes", body, words: 1, block: [threads, 1, 1] }, inWarps);
  expect(reports).toEqual([]);
  expect(out).toEqual(Array(threads).fill(threads));
});

test("lanes jump together over the place at which others of their warp wait for a barrier", () => {
  // Even lanes come to the jump when odd ones wait behind it.
  const body = `mov.u32 %r5, 1; mov.u32 %r9, 0; st.shared.u32 [box], %r9; bar.sync 0;
and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra far; bra near;
low: ld.shared.u32 %r6, [box]; setp.ne.u32 %p1, %r6, 0; @%p1 bra past;
near: add.u32 %r5, %r5, 10; bar.sync 0; add.u32 %r5, %r5, 100; activemask.b32 %r7; bra done;
far: mov.u32 %r9, 1; st.shared.u32 [box], %r9; add.u32 %r5, %r5, 1000; bra low;
past: add.u32 %r5, %r5, 10000; activemask.b32 %r7;
done: st.global.v2.u32 [%out], {%r5, %r7};`;
  const one = { name: "over the barrier", body, before: shared, words: 2, block: [32, 1, 1] } as const;
  const { reports, out } = expectSame(one, inWarps);
  expect(reports).toEqual([]);
  expect(out.slice(0, 4)).toEqual([11_001, 0x5555_5555, 111, ~0x5555_5555]);
});

describe("barriers that are counted", () => {
  test.each(cases)("$name", (c) => {
    const { reports, out } = expectSame({ before: shared, block, grid: [3, 1, 1], ...c }, inWarps);
    expect(reports).toEqual([]);
    expect(out.some((word) => word !== 0)).toBe(true);
  });
});

/** Threads vote in rounds: at the barriers of all, beside others of all, in a loop that some warps leave early. */
const votes: readonly Case[] = [
  {
    name: "one vote after the other",
    body: `and.b32 %r2, %t, 3; setp.eq.u32 %p0, %r2, 1; setp.lt.u32 %p1, %t, 200; setp.gt.u32 %p2, %t, 200;
bar.red.popc.u32 %r5, 0, %p0; bar.red.and.pred %p1, 0, %p1; bar.red.or.pred %p2, 0, %p2; bar.red.or.pred %p3, 0, %p0;
selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 2, 4, %p2; or.b32 %r6, %r6, %r7; selp.u32 %r7, 8, 16, %p3; or.b32 %r6, %r6, %r7;
bar.red.and.pred %p0, 0, !%p0; selp.u32 %r7, 32, 64, %p0; or.b32 %r6, %r6, %r7;
st.global.v2.u32 [%out], {%r5, %r6};`,
  },
  {
    name: "until nobody votes, with memory exchanged between",
    body: `${place} mov.u32 %r2, 0; mov.u32 %r5, 0; mov.u32 %r9, 0;
again: add.u32 %r6, %t, %r5; st.shared.u32 [%r1], %r6; bar.sync 0;
add.u32 %r3, %t, 33; rem.u32 %r3, %r3, 100; shl.b32 %r3, %r3, 2; add.u32 %r3, %r0, %r3; ld.shared.u32 %r4, [%r3];
add.u32 %r2, %r2, %r4; add.u32 %r5, %r5, 1; setp.gt.u32 %p0, %t, %r5; setp.lt.u32 %p2, %r5, 7; and.pred %p0, %p0, %p2;
barrier.red.popc.u32 %r7, 0, %p0; add.u32 %r9, %r9, %r7; setp.ne.u32 %p1, %r7, 0; @%p1 bra again;
st.global.v4.u32 [%out], {%r2, %r5, %r7, %r9};`,
  },
  {
    name: "warps end between votes",
    body: `bar.red.popc.u32 %r5, 0, 1; setp.ge.u32 %p0, %t, 64; @%p0 bra done; bar.red.popc.u32 %r6, 0, 1;
bar.red.and.pred %p1, 0, 1; selp.u32 %r7, 1, 0, %p1;
done: st.global.v4.u32 [%out], {%r5, %r6, %r7, %t};`,
  },
  {
    name: "lanes of a warp wait in a loop for others that vote, and nobody asks for the result",
    body: `mov.u32 %r0, box; mov.u32 %r2, 0; st.shared.u32 [%r0], %r2; bar.sync 0; setp.ne.u32 %p1, %t, 5; @%p1 bra vote;
mov.u32 %r7, 0;
wait: add.u32 %r7, %r7, 1; ld.volatile.shared.u32 %r4, [%r0]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;
vote: setp.eq.u32 %p3, %t, 99; @%p3 bra give; bra meet;
give: mov.u32 %r5, 8; st.volatile.shared.u32 [%r0], %r5;
meet: setp.lt.u32 %p0, %t, 40; barrier.red.popc.u32 %r6, 0, %p0; barrier.red.or.pred %p3, 0, %p0;
selp.u32 %r8, 1, 0, %p3; ld.volatile.shared.u32 %r4, [%r0]; st.global.v2.u32 [%out], {%r4, %r8};`,
  },
  {
    name: "others wait in a loop meanwhile",
    body: `mov.u32 %r0, box; setp.lt.u32 %p0, %t, 40; mov.u32 %r2, 0; st.shared.u32 [%r0], %r2; bar.sync 0;
setp.ne.u32 %p1, %t, 99; @%p1 bra wait; mov.u32 %r2, 3; st.volatile.shared.u32 [%r0], %r2;
wait: ld.volatile.shared.u32 %r4, [%r0]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;
bar.red.popc.u32 %r5, 0, %p0; st.global.v2.u32 [%out], {%r4, %r5};`,
  },
];

describe("all threads vote", () => {
  test.each(votes)("$name", (c) => {
    const options = { before: shared, block, grid: [3, 1, 1], ...c } as const;
    const { reports, out } = expectSame(options, inWarps);
    expect(reports).toEqual([]);
    expect(out.some((word) => word !== 0)).toBe(true);
  });
});

/** Behind the barrier a loop begins in which threads wait for others. */
const spinning = (meet: string): string => `and.b32 %r9, %t, 31; mov.u32 %r0, box; setp.ne.u32 %p0, %t, 0;
@%p0 bra wait; mov.u32 %r2, 5; st.shared.u32 [%r0+64], %r2;
wait: ${meet}
again: ld.volatile.shared.u32 %r4, [%r0]; setp.eq.u32 %p2, %t, 99; @%p2 bra give; setp.eq.u32 %p1, %r4, 0; @%p1 bra again;
bra done;
give: mov.u32 %r5, 8; st.volatile.shared.u32 [%r0], %r5;
done: ld.shared.u32 %r6, [%r0+64]; st.global.v2.u32 [%out], {%r4, %r6};`;

test.each(["bar.sync 0;", "bar.sync 1;", "@%p0 bra meet; nanosleep.u32 1; meet: bar.sync 0;"])(
  "a loop after %s",
  (meet) => {
    expect(expectSame({ name: meet, body: spinning(meet), before: shared, block }, inWarps).reports).toEqual([]);
  },
);
