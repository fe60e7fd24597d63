import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

// Addresses in shared memory that are a sum of what follows from thread numbers, not in a straight line, and of what a
// loop counts. The interpreter is the reference.

const words = 640;
const before = `.shared .align 16 .b8 s[${4 * words}];`;

/** Each thread fills its words, and after a barrier `body` may read any. %r9 is where they begin. */
const kernel = (body: string): string => `mov.u32 %r9, s; mov.u32 %r10, %tid.x;
  FILL: mad.lo.u32 %r11, %r10, 4, %r9; mad.lo.u32 %r12, %r10, 2654435761, 12345; st.shared.u32 [%r11], %r12;
  mov.u32 %r13, %ntid.x; add.u32 %r10, %r10, %r13; setp.lt.u32 %p9, %r10, ${words}; @%p9 bra FILL;
  bar.sync 0; mov.u32 %r8, %tid.x; mov.u32 %r7, 0; mov.u32 %r6, 0;
  ${body}
  st.global.b32 [%out], %r7; ret;`;

/** Where each thread begins, in words: %r1. */
const starts = [
  ["one word for sixteen", "shr.u32 %r1, %r8, 4; shl.b32 %r1, %r1, 2;"],
  ["every fourth word of sixteen", "and.b32 %r1, %r8, 15; shl.b32 %r1, %r1, 2;"],
  ["the other of a pair", "xor.b32 %r1, %r8, 1;"],
  ["padded rows", "shr.u32 %r1, %r8, 3; add.u32 %r1, %r1, %r8;"],
  ["remainders", "rem.u32 %r1, %r8, 5;"],
] as const;

const add = "xor.b32 %r7, %r7, %r4; add.u32 %r7, %r7, %r5;";
const next = "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 7; @%p1 bra LOOP;";

/** Loops that read two words a round. */
const loops = [
  ["a moving address", "mad.lo.u32 %r2, %r1, 4, %r9; LOOP:", "%r2", `${add} add.u32 %r2, %r2, 260; ${next}`],
  [
    "a row and a place",
    "LOOP: mad.lo.u32 %r3, %r6, 260, %r9; shl.b32 %r12, %r1, 2; add.u32 %r2, %r3, %r12;",
    "%r2",
    add + next,
  ],
  [
    "an address that goes back",
    "mad.lo.u32 %r2, %r1, 4, %r9; add.u32 %r2, %r2, 1560; LOOP:",
    "%r2",
    `${add} add.u32 %r2, %r2, -248; ${next}`,
  ],
] as const;

function expectEqual(body: string, block = 64) {
  return expectSame({ name: "", before, body: kernel(body), block: [block, 1, 1], words: 1 }).reports;
}

test.each(loops.flatMap((loop) => starts.map((start) => [loop[0], start[0], loop, start] as const)))(
  "%s, %s",
  (_loop, _start, [, head, at, tail], [, start]) => {
    const loads = `ld.shared.u32 %r4, [${at}]; ld.shared.u32 %r5, [${at}+4];`;
    for (const block of [64, 128]) {
      expect(expectEqual(`${start} ${head} ${loads} ${tail}`, block)).toEqual([]);
      // Words in the middle of others, and lanes that leave.
      expect(
        expectEqual(`${start} ${head} ld.shared.s16 %r4, [${at}+2]; ld.shared.u8 %r5, [${at}+1]; ${tail}`, block),
      ).toEqual([]);
      const some = `setp.gt.u32 %p2, %r8, 21; @%p2 bra END; ${start} ${head} ${loads} ${tail} END:`;
      expect(expectEqual(some, block)).toEqual([]);
      const guarded = `setp.gt.u32 %p2, %r8, 21; ${start} ${head} @%p2 ld.shared.u32 %r4, [${at}]; mov.u32 %r5, 3; ${tail}`;
      expect(expectEqual(`mov.u32 %r4, 1; ${guarded}`, block)).toEqual([]);
    }
  },
);

test("stores that go on by rows", () => {
  const body = `and.b32 %r1, %r8, 15; shr.u32 %r2, %r8, 4; mad.lo.u32 %r1, %r1, 20, %r2; mad.lo.u32 %r2, %r1, 4, %r9;
    LOOP: st.shared.u32 [%r2], %r6; add.u32 %r2, %r2, 16; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 5; @%p1 bra LOOP;
    bar.sync 0; mad.lo.u32 %r2, %r8, 20, %r9; ld.shared.u32 %r7, [%r2];`;
  expect(expectEqual(body)).toEqual([]);
});

test("lanes that go round another number of times", () => {
  const body = `xor.b32 %r1, %r8, 1; mad.lo.u32 %r2, %r1, 4, %r9; and.b32 %r3, %r8, 3;
    LOOP: ld.shared.u32 %r4, [%r2]; xor.b32 %r7, %r7, %r4; add.u32 %r2, %r2, 260; add.u32 %r6, %r6, 1;
    setp.le.u32 %p1, %r6, %r3; @%p1 bra LOOP;
    ld.shared.u32 %r4, [%r2]; add.u32 %r7, %r7, %r4;`;
  expect(expectEqual(body)).toEqual([]);
});

test("what is read beside addresses is their sum", () => {
  const body = `xor.b32 %r1, %r8, 1; mad.lo.u32 %r2, %r1, 4, %r9;
    LOOP: ld.shared.u32 %r4, [%r2]; xor.b32 %r7, %r7, %r2; sub.u32 %r7, %r7, %r9; add.u32 %r2, %r2, 260; ${next}`;
  expect(expectEqual(body)).toEqual([]);
  const stored = `xor.b32 %r1, %r8, 1; mad.lo.u32 %r2, %r1, 4, %r9;
    LOOP: st.shared.u32 [%r2], %r2; add.u32 %r2, %r2, 260; ${next}
    bar.sync 0; mad.lo.u32 %r2, %r8, 8, %r9; ld.shared.u32 %r7, [%r2]; sub.u32 %r7, %r7, %r9;`;
  expect(expectEqual(stored)).toEqual([]);
});

test.each([
  ["beyond the end in the last rounds", 260, 12, "shared-out-of-bounds"],
  ["before the beginning", -16, 7, "shared-out-of-bounds"],
  ["around the end of the address space", 0x7fff_fff0, 3, "shared-out-of-bounds"],
  ["not aligned from the second round on", 258, 3, "misaligned-access"],
])("addresses %s", (_, step, rounds, code) => {
  const body = `and.b32 %r1, %r8, 15; shl.b32 %r1, %r1, 2; mad.lo.u32 %r2, %r1, 4, %r9;
    LOOP: ld.shared.u32 %r4, [%r2]; xor.b32 %r7, %r7, %r4; add.u32 %r2, %r2, ${step}; add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, ${rounds}; @%p1 bra LOOP;`;
  expect(expectEqual(body)).toMatchObject([{ code }]);
});
