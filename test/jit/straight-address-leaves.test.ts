import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

// Where nothing is clamped, an address is computed of what it was computed from before. Each of these kernels is one
// way in which that may no longer be there, or may not be what it was. The interpreter is the reference.

const words = 512;
const before = `.shared .align 16 .b8 s[${4 * words}]; .shared .align 16 .b8 t[${4 * words}];`;

/**
 * Threads have filled shared memory, each word with another number. `%x` is the thread's place in its row, `%y` where
 * the row begins in memory; `LOAD i` adds up what lies at place `i` of the row.
 */
const kernel = (body: string): string => `mov.u32 %r30, %tid.x; mov.u32 %r31, s; mov.u32 %r33, t;
  mov.u32 %r34, %tid.y; setp.ne.u32 %p18, %r34, 0; @%p18 bra FULL;
  FILL: shl.b32 %r32, %r30, 2; add.u32 %r35, %r32, %r31; add.u32 %r36, %r32, %r33; mad.lo.u32 %r37, %r30, 40503, 977;
  st.shared.u32 [%r35], %r37; st.shared.u32 [%r36], %r30;
  mov.u32 %r38, %ntid.x; add.u32 %r30, %r30, %r38; setp.lt.u32 %p19, %r30, ${words}; @%p19 bra FILL;
  FULL: bar.sync 0; mov.u32 %n, 0;
  ${body.replaceAll(/LOAD (%\w+);/g, "mad.lo.u32 %r38, $1, 4, %r29; ld.shared.u32 %r37, [%r38]; mad.lo.u32 %n, %n, 31, %r37;")}
  st.global.b32 [%out], %n; ret;`;

/** The place of a row, and that of a thread in it. */
const row = "mov.u32 %r28, %tid.y; mad.lo.u32 %r29, %r28, 160, s; mov.u32 %r27, %tid.x;".replace(", s;", ", %r31;");

const blocks: readonly Dim3[] = [
  [64, 1, 1],
  [16, 4, 1],
  [8, 8, 1],
  [33, 1, 1],
  [5, 3, 1],
  [64, 2, 1],
];

/** A barrier with something to do after it for all threads, so that chunks take turns. */
const wait = "bar.sync 0; st.shared.u32 [%r33], 7; bar.sync 0;";

test.each([
  [
    "a thread number that nothing else reads after a barrier",
    `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; ${wait} LOAD %r2;`,
  ],
  [
    "a sum that nothing reads after a barrier, but after the next",
    `ld.shared.u32 %r1, [%r33+8]; add.s32 %r2, %r27, %r1; sub.s32 %r2, %r2, 3; max.s32 %r3, %r2, 0; ${wait} LOAD %r3;
     ${wait} add.u32 %n, %n, %r2;`,
  ],
  [
    "the same in a loop around a barrier",
    `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; add.s32 %r3, %r27, 1; mov.u32 %r4, %ntid.x; sub.s32 %r4, %r4, 1;
     min.s32 %r5, %r3, %r4; mov.u32 %r6, 0; AGAIN: LOAD %r2; LOAD %r5; bar.sync 0; st.shared.u32 [%r33], %r6;
     bar.sync 0; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra AGAIN;`,
  ],
  [
    "a register that is written again before the access",
    "sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; mul.lo.s32 %r1, %r27, 3; LOAD %r2; add.u32 %n, %n, %r1;",
  ],
  [
    "a register that is written again before the access, in each round of a loop",
    `mov.u32 %r8, 0; sub.s32 %r1, %r27, 2; AGAIN: max.s32 %r2, %r1, 0; add.s32 %r1, %r1, 1; LOAD %r2;
     add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 4; @%p1 bra AGAIN; add.u32 %n, %n, %r1;`,
  ],
  [
    "a register that is written again in a block between",
    `ld.shared.u32 %r9, [%r33+4]; mov.u32 %r8, 0; sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0;
     AGAIN: add.s32 %r1, %r1, 5; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 3; @%p1 bra AGAIN;
     LOAD %r2; add.u32 %n, %n, %r1;`,
  ],
  [
    "a round's place, which the next round computes anew",
    `mov.u32 %r8, 0; mov.u32 %r2, 3; AGAIN: LOAD %r2; add.s32 %r1, %r27, %r8; sub.s32 %r1, %r1, 2; max.s32 %r2, %r1, 0;
     add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 4; @%p1 bra AGAIN; add.u32 %n, %n, %r1;`,
  ],
  [
    "a place that some lanes have moved",
    `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; setp.gt.u32 %p1, %r27, 9; @%p1 add.s32 %r2, %r2, 1; LOAD %r2;
     add.u32 %n, %n, %r1;`,
  ],
  [
    "a place of which some lanes are elsewhere",
    `sub.s32 %r1, %r27, 1; setp.gt.u32 %p1, %r27, 9; @%p1 bra ELSE; max.s32 %r2, %r1, 0; bra.uni BOTH;
     ELSE: min.s32 %r2, %r1, 11; BOTH: LOAD %r2; add.u32 %n, %n, %r1;`,
  ],
  [
    "a load of which the result is not used, before the place is written anew",
    `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; mad.lo.u32 %r3, %r2, 4, %r29; ld.shared.u32 %r4, [%r3];
     shl.b32 %r1, %r27, 1; ld.shared.u32 %r5, [%r3+4]; add.u32 %n, %r5, %r1;`,
  ],
  [
    "a half of a word",
    `add.u32 %r1, %r27, 65530; cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r2, %h1; min.u32 %r3, %r2, 40; LOAD %r3;
     min.u16 %h2, %h1, 40; cvt.u32.u16 %r4, %h2; LOAD %r4; add.u32 %n, %n, %r1;`,
  ],
  [
    "a half of a word that decides, where the whole word would decide otherwise",
    `add.u32 %r1, %r27, 65530; cvt.u16.u32 %h1, %r1; setp.gt.u16 %p1, %h1, 5; selp.b32 %r2, %r27, 3, %p1; LOAD %r2;
     add.u32 %n, %n, %r1;`,
  ],
  [
    "numbers that wrap around as they are widened",
    `sub.s32 %r1, %r27, 5; min.u32 %r2, %r1, 30; LOAD %r2; min.s32 %r3, %r1, 30; max.s32 %r3, %r3, 0; LOAD %r3;
     add.s32 %r4, %r27, 2147483640; max.s32 %r5, %r4, -2147483640; min.s32 %r5, %r5, -2147483600;
     sub.s32 %r5, %r5, -2147483640; LOAD %r5; add.u32 %n, %n, %r1;`,
  ],
  [
    "a choice by something else than a border",
    `sub.s32 %r1, %r27, 1; and.b32 %r3, %r27, 4; setp.eq.u32 %p1, %r3, 0; selp.b32 %r2, %r27, 3, %p1; LOAD %r2;
     setp.lt.s32 %p2, %r27, 7; selp.b32 %r4, %r27, 7, %p2; LOAD %r4; selp.b32 %r5, 7, %r27, %p2; LOAD %r5;
     setp.ne.s32 %p3, %r27, 6; selp.b32 %r6, %r27, 2, %p3; LOAD %r6;`,
  ],
  [
    "a predicate that is written again",
    `setp.gt.s32 %p1, %r27, 2; selp.b32 %r1, %r27, 2, %p1; setp.lt.s32 %p1, %r27, 20; selp.b32 %r2, %r1, 20, %p1;
     LOAD %r2; @%p1 add.u32 %n, %n, 5;`,
  ],
  [
    "steps of more than one, and backwards",
    `shl.b32 %r1, %r27, 1; min.s32 %r2, %r1, 31; LOAD %r2; sub.s32 %r3, 30, %r27; max.s32 %r4, %r3, 0; LOAD %r4;
     sub.s32 %r5, 31, %r4; LOAD %r5; shr.u32 %r6, %r2, 1; LOAD %r6;`,
  ],
  [
    "a factor with which numbers wrap around between the ends of a chunk, and are as wanted at both",
    `mul.lo.u32 %r1, %r27, 0x50000000; setp.lt.u32 %p1, %r1, 0xC0000000; selp.b32 %r2, %r27, 3, %p1; LOAD %r2;
     add.u32 %n, %n, %r1;`,
  ],
  [
    "a place that nothing reads after it has been clamped, so that its local may be another's",
    `ld.shared.u32 %r9, [%r33+8]; add.s32 %r1, %r27, %r9; sub.s32 %r1, %r1, 3; max.s32 %r2, %r1, 0;
     mul.lo.s32 %r10, %r27, %r27; xor.b32 %r11, %r10, %r2; mul.lo.s32 %r12, %r11, %r10; ld.shared.u32 %r13, [%r33+12];
     LOAD %r2; mad.lo.u32 %n, %r10, %r11, %n; mad.lo.u32 %n, %r12, %r13, %n;`,
  ],
  [
    "a clock, which is another number when it is read again",
    `mov.u32 %r1, %clock; shr.u32 %r1, %r1, 2; and.b32 %r1, %r1, 7; add.s32 %r2, %r27, %r1; max.s32 %r3, %r2, 7;
     mad.lo.u32 %r4, %r3, 4, %r33; bar.sync 0; ld.shared.u32 %r5, [%r4]; setp.ne.u32 %p1, %r5, %r3; @%p1 add.u32 %n, %n, 1;`,
  ],
  [
    "blocks of which a branch leaves some lanes out",
    `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; setp.gt.u32 %p1, %r27, 11; @%p1 bra NOT; LOAD %r2; add.u32 %n, %n, 3;
     NOT: setp.lt.u32 %p2, %r27, 3; @%p2 bra NEITHER; LOAD %r2; NEITHER: add.u32 %n, %n, %r1;`,
  ],
  [
    "a branch that is taken in some lanes, where the place is written anew",
    `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; setp.gt.u32 %p1, %r27, 11; @%p1 bra NOT; shl.b32 %r1, %r27, 1; LOAD %r2;
     add.u32 %n, %n, %r1; NOT: add.u32 %n, %n, 1;`,
  ],
])("%s", (_, body) => {
  for (const block of blocks) {
    const text = kernel(`.reg .b16 %h<4>; ${row} ${body}`);
    const { reports } = expectSame({ name: "", before, body: text, block, grid: [2, 1, 1], words: 1 });
    expect({ block, reports }).toEqual({ block, reports: [] });
  }
});

// Clamped addresses that nothing but such accesses reads are computed there, and not kept over barriers.

const neighbours = `sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0; add.s32 %r3, %r27, 1; mov.u32 %r4, %ntid.x;
  sub.s32 %r4, %r4, 1; min.s32 %r5, %r3, %r4; mad.lo.s32 %r6, %r2, 4, %r29; mad.lo.s32 %r7, %r5, 4, %r29;
  mad.lo.s32 %r8, %r27, 4, %r29;`;
const sum = `ld.shared.u32 %r10, [%r6]; ld.shared.u32 %r11, [%r8]; min.u32 %r12, %r10, %r11; ld.shared.u32 %r13, [%r7];
  min.u32 %r14, %r12, %r13; mad.lo.u32 %n, %n, 31, %r14;`;

test.each([
  ["read by all threads", `${neighbours} ${wait} ${sum} ${wait} ${sum}`],
  [
    "read by fewer threads in each round, as in a pyramid",
    `${neighbours} mov.u32 %r15, 0; AGAIN: setp.gt.u32 %p1, %r27, %r15; sub.s32 %r16, %r4, %r15;
     setp.lt.s32 %p2, %r27, %r16; and.pred %p3, %p1, %p2; mov.u16 %h1, 0; not.pred %p4, %p3; @%p4 bra NOT; ${sum}
     mov.u16 %h1, 1; NOT: bar.sync 0; setp.eq.u16 %p5, %h1, 0; @%p5 bra NEITHER; st.shared.u32 [%r8], %n;
     NEITHER: bar.sync 0; add.u32 %r15, %r15, 1; setp.lt.u32 %p6, %r15, 5; @%p6 bra AGAIN;`,
  ],
  [
    "a border that changes after the place has been computed",
    `mov.u32 %r9, 2; sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, %r9; mad.lo.s32 %r6, %r2, 4, %r29; AGAIN: ${wait}
     ld.shared.u32 %r10, [%r6]; mad.lo.u32 %n, %n, 31, %r10; add.u32 %r9, %r9, 3; setp.lt.u32 %p1, %r9, 9; @%p1 bra AGAIN;
     add.u32 %n, %n, %r9;`,
  ],
  [
    "a border that has been loaded, and is loaded anew",
    `ld.shared.u32 %r9, [%r33+16]; sub.s32 %r1, %r27, 3; max.s32 %r2, %r1, %r9; mad.lo.s32 %r6, %r2, 4, %r29; ${wait}
     st.shared.u32 [%r33+16], 1; bar.sync 0; ld.shared.u32 %r9, [%r33+16]; ld.shared.u32 %r10, [%r6];
     mad.lo.u32 %n, %r9, 31, %r10;`,
  ],
  [
    "a place that some threads have not computed",
    `mov.u32 %r6, %r29; setp.gt.u32 %p1, %r27, 6; @%p1 bra NOT; sub.s32 %r1, %r27, 1; max.s32 %r2, %r1, 0;
     mad.lo.s32 %r6, %r2, 4, %r29; NOT: ${wait} ld.shared.u32 %r10, [%r6]; mad.lo.u32 %n, %n, 31, %r10;`,
  ],
  [
    "an offset that some threads have not computed, which is 0 there",
    `setp.gt.u32 %p1, %r27, 6; @%p1 bra NOT; sub.s32 %r1, %r27, 1; max.s32 %r20, %r1, 0; shl.b32 %r21, %r20, 2; NOT: ${wait}
     add.u32 %r6, %r21, %r29; ld.shared.u32 %r10, [%r6]; mad.lo.u32 %n, %n, 31, %r10;`,
  ],
  [
    "a place that is stored, too, and one that decides who loads",
    `${neighbours} ${wait} ${sum} setp.lt.u32 %p1, %r6, %r7; @%p1 ld.shared.u32 %r15, [%r7]; add.u32 %n, %n, %r15;
     bar.sync 0; st.shared.u32 [%r7], %r7; bar.sync 0; ld.shared.u32 %r16, [%r7]; sub.u32 %r16, %r16, %r29;
     mad.lo.u32 %n, %n, 31, %r16;`,
  ],
  [
    "halves of words",
    `${neighbours} ${wait} ld.shared.u16 %r15, [%r6]; ld.shared.s8 %r16, [%r7+1]; mad.lo.u32 %n, %r15, 31, %r16; ${sum}`,
  ],
  [
    "places of which several accesses are one check, and a loop that some leave",
    `${neighbours} ${wait} mov.u32 %r15, 0; AGAIN: ld.shared.u32 %r10, [%r6]; ld.shared.u32 %r11, [%r6+4];
     ld.shared.u32 %r12, [%r7]; mad.lo.u32 %n, %n, 31, %r10; mad.lo.u32 %n, %r11, 7, %n; xor.b32 %n, %n, %r12;
     add.u32 %r15, %r15, 1; setp.lt.u32 %p1, %r15, %r27; @%p1 bra AGAIN; ${wait} ${sum}`,
  ],
])("a place over barriers: %s", (_, body) => {
  for (const block of blocks) {
    const text = kernel(`.reg .b16 %h<4>; ${row} ${body}`);
    const { reports } = expectSame({ name: "", before, body: text, block, grid: [2, 1, 1], words: 1 });
    expect({ block, reports }).toEqual({ block, reports: [] });
  }
});
