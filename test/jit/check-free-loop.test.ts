import { describe, expect, test } from "vitest";
import { type Case, expectSame } from "./harness.ts";

const words = 24;

/** A buffer of 64 words, and what threads keep of it. */
const before = `.global .align 4 .u32 table[64] = {${Array.from({ length: 64 }, (_, i) => i * 7919 + 3).join()}};
.shared .align 4 .u32 tile[64];`;

/** A loop of `rounds`; `begin` puts an address into %d1, and `next` moves it on. */
const loop = (
  begin: string,
  next: string,
  rounds: string | number = 6,
  access = "ld.global.u32 %r1, [%d1];",
): string => `
mov.u32 %r0, %tid.x; mov.u64 %d0, table; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r1, 0;
${begin}
LOOP: ${access}
mad.lo.u32 %r2, %r2, 31, %r1; ${next}
add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, ${rounds}; @%p1 bra LOOP;
st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r3;
`;
const byThread = "mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d1, %d0;";

const good: readonly (readonly [string, string])[] = [
  ["forwards", loop(byThread, "add.s64 %d1, %d1, 4;", 33)],
  ["backwards", loop(`${byThread} add.s64 %d1, %d1, 64;`, "sub.s64 %d1, %d1, 4;", 17)],
  ["on the spot", loop(byThread, "", 5)],
  [
    "by steps that are not known beforehand",
    loop(`${byThread} cvt.u64.u32 %d2, %n; mul.lo.u64 %d2, %d2, 2;`, "add.s64 %d1, %d1, %d2;", 2),
  ],
  ["to and fro", loop(byThread, "neg.s64 %d3, %d3; add.s64 %d1, %d1, %d3;", 9)],
  ["by twice what it was", loop(`${byThread} mov.u64 %d2, 4;`, "add.s64 %d1, %d1, %d2; add.s64 %d2, %d2, %d2;", 4)],
  [
    "over several words at once",
    loop(
      byThread,
      "add.s64 %d1, %d1, 16;",
      5,
      "ld.global.u32 %r1, [%d1]; ld.global.u32 %r4, [%d1+12]; add.u32 %r1, %r1, %r4;",
    ),
  ],
  [
    "through intermediate sums",
    loop(
      `${byThread} mov.u64 %d4, 12;`,
      "add.s64 %d1, %d2, %d4;",
      6,
      "ld.global.u32 %r1, [%d1]; add.s64 %d2, %d1, 8; ld.global.u32 %r4, [%d2]; add.u32 %r1, %r1, %r4; sub.s64 %d2, %d2, 8;",
    ),
  ],
  [
    "from a place of each lane's own",
    loop(
      `xor.b32 %r5, %r0, 21; and.b32 %r5, %r5, 31; mul.wide.u32 %d1, %r5, 4; add.s64 %d1, %d1, %d0;`,
      "add.s64 %d1, %d1, 4;",
      33,
    ),
  ],
  [
    "from any address",
    loop(
      `cvt.u64.u32 %d1, %r0; xor.b64 %d1, %d1, 11; and.b64 %d1, %d1, 31; mul.lo.u64 %d1, %d1, 4; add.s64 %d1, %d1, %d0;`,
      "add.s64 %d1, %d1, 4;",
      33,
    ),
  ],
  ["as often as each lane wants", loop(`${byThread} and.b32 %r6, %r0, 7;`, "add.s64 %d1, %d1, 4;", "%r6")],
  [
    "as often as each lane wants, from a place of its own",
    loop(
      `xor.b32 %r5, %r0, 21; and.b32 %r5, %r5, 31; mul.wide.u32 %d1, %r5, 4; add.s64 %d1, %d1, %d0; rem.u32 %r6, %r0, 11;`,
      "add.s64 %d1, %d1, 4;",
      "%r6",
    ),
  ],
  [
    "of shared memory, by 32 bits",
    `
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; and.b32 %r4, %r0, 31; mad.lo.u32 %r5, %r4, 4, %r1; mov.u32 %r2, 0; mov.u32 %r3, 0;
FILL: st.shared.u32 [%r5], %r5; add.u32 %r5, %r5, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 33; @%p1 bra FILL;
bar.sync 0; mad.lo.u32 %r5, %r4, 4, %r1; add.u32 %r5, %r5, 128;
READ: ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r2, %r2, 5, %r6; sub.u32 %r5, %r5, 4; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra READ;
st.global.u32 [%out], %r2;`,
  ],
  [
    "that write what they read in the next round",
    `
mov.u32 %r3, 0; mov.u64 %d1, %out; mov.u32 %r1, %tid.x; st.global.u32 [%d1], %r1;
LOOP: ld.global.u32 %r1, [%d1]; mad.lo.u32 %r1, %r1, 3, 1; st.global.u32 [%d1+4], %r1; add.s64 %d1, %d1, 4;
add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 20; @%p1 bra LOOP;`,
  ],
  [
    "of whose lanes only those stay that are within",
    `
mov.u32 %r0, %tid.x; mov.u64 %d0, table; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d1, %d0; mov.u32 %r2, 0; mov.u32 %r3, %r0;
setp.gt.u32 %p1, %r0, 63; @%p1 bra DONE;
LOOP: ld.global.u32 %r1, [%d1]; add.u32 %r2, %r2, %r1; add.s64 %d1, %d1, 4;
add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 64; @%p1 bra LOOP;
DONE: st.global.u32 [%out], %r2;`,
  ],
  [
    "with a guard of each lane",
    loop(
      `${byThread} and.b32 %r5, %r0, 1; setp.eq.u32 %p2, %r5, 0;`,
      "add.s64 %d1, %d1, 4;",
      33,
      "@%p2 ld.global.u32 %r1, [%d1];",
    ),
  ],
];

const faults: readonly (readonly [string, string, string])[] = [
  ["global-out-of-bounds", "after the end in a later round", loop(byThread, "add.s64 %d1, %d1, 4;", 34)],
  [
    "global-out-of-bounds",
    "before the beginning in a later round",
    loop(`${byThread} add.s64 %d1, %d1, 64;`, "sub.s64 %d1, %d1, 4;", 18),
  ],
  [
    "global-out-of-bounds",
    "in one lane of those that are left",
    loop(`${byThread} and.b32 %r6, %r0, 31; add.u32 %r6, %r6, 20;`, "add.s64 %d1, %d1, 4;", "%r6"),
  ],
  [
    "global-out-of-bounds",
    "in a lane's own place",
    loop(
      `xor.b32 %r5, %r0, 21; and.b32 %r5, %r5, 31; mul.wide.u32 %d1, %r5, 4; add.s64 %d1, %d1, %d0;`,
      "add.s64 %d1, %d1, 4;",
      34,
    ),
  ],
  [
    "global-out-of-bounds",
    "of any address",
    loop(
      `cvt.u64.u32 %d1, %r0; xor.b64 %d1, %d1, 11; and.b64 %d1, %d1, 31; mul.lo.u64 %d1, %d1, 4; add.s64 %d1, %d1, %d0;`,
      "add.s64 %d1, %d1, 4;",
      34,
    ),
  ],
  ["misaligned-access", "misaligned in a later round", loop(byThread, "shl.b64 %d2, %d2, 1; add.s64 %d1, %d1, 2;", 3)],
  [
    "global-out-of-bounds",
    "by a step of 2^40",
    loop(`${byThread} mov.u64 %d2, 0x10000000000;`, "add.s64 %d1, %d1, %d2;", 3),
  ],
  [
    "global-out-of-bounds",
    "by a step that takes it around all addresses",
    loop(`${byThread} mov.u64 %d2, 0x8000000000000000;`, "add.s64 %d1, %d1, %d2;", 3),
  ],
  [
    "shared-out-of-bounds",
    "of shared memory, below 0",
    `
mov.u32 %r0, %tid.x; and.b32 %r0, %r0, 31; mov.u32 %r1, tile; mad.lo.u32 %r5, %r0, 4, %r1; mov.u32 %r3, 0;
LOOP: ld.shared.u32 %r6, [%r5]; sub.u32 %r5, %r5, 0x40000000; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra LOOP;
st.global.u32 [%out], %r6;`,
  ],
];

const caseOf = (name: string, body: string): Case => ({
  name,
  body: `${body}\nret;`,
  before,
  block: [32, 1, 1],
  words,
});

describe("loops that look ahead", () => {
  test.each(good)("%s", (name, body) => {
    const { out, reports } = expectSame(caseOf(name, body));
    expect(reports).toEqual([]);
    expect(new Set(out).size).toBeGreaterThan(2);
  });

  test.each(good)("%s, in blocks that do not fill the chunks", (name, body) => {
    expectSame({ ...caseOf(name, body), block: [27, 1, 1], grid: [2, 1, 1] });
  });
});

describe("and do not find what is not there", () => {
  test.each(faults)("%s: %s", (code, name, body) => {
    const { reports } = expectSame(caseOf(name, body));
    expect(reports).toMatchObject([{ code }]);
  });
});
