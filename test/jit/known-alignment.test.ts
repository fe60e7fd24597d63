import { expect, test } from "vitest";
import { type Case, expectSame } from "./harness.ts";

/**
 * Accesses of 4 bytes in shared memory, at addresses that each lane has for itself. Where the code shows that they are
 * multiples of 4, nothing tests it; where it does not, lanes with others are told of.
 */
const words = ".shared .align 16 .b8 words[8192];";

/** A number that is another one in each lane, and follows from no linear form: `%r0`, below 1024. */
const scattered =
  "mul.lo.u32 %r0, %t, %t; mul.lo.u32 %r0, %r0, 13; shr.u32 %r1, %t, 1; xor.b32 %r0, %r0, %r1; and.b32 %r0, %r0, 1023; mov.u32 %r1, words;";

const move = "st.shared.u32 [%r9], %t; bar.sync 0; ld.shared.u32 %r10, [%r9]; st.global.u32 [%out], %r10; ret;";

/** Name, instructions that leave an address in `%r9`, and whether some are misaligned. */
const cases: readonly (readonly [string, string, boolean])[] = [
  ["a shift by two", "shl.b32 %r2, %r0, 2; add.u32 %r9, %r1, %r2;", false],
  ["a shift by one", "shl.b32 %r2, %r0, 1; add.u32 %r9, %r1, %r2;", true],
  ["a product with 12", "and.b32 %r2, %r0, 127; mul.lo.u32 %r2, %r2, 12; add.u32 %r9, %r1, %r2;", false],
  ["a product with 6", "and.b32 %r2, %r0, 127; mul.lo.u32 %r2, %r2, 6; add.u32 %r9, %r1, %r2;", true],
  ["a product of two even numbers", "and.b32 %r2, %r0, 30; shl.b32 %r3, %t, 1; mad.lo.u32 %r9, %r2, %r3, %r1;", false],
  ["bits that are cleared", "and.b32 %r2, %r0, -4; add.u32 %r9, %r1, %r2;", false],
  ["one bit that is cleared", "and.b32 %r2, %r0, -2; add.u32 %r9, %r1, %r2;", true],
  ["a bit that is set", "shl.b32 %r2, %r0, 2; or.b32 %r2, %r2, 2; add.u32 %r9, %r1, %r2;", true],
  [
    "a difference that wraps around",
    "shl.b32 %r2, %r0, 2; sub.u32 %r3, %r1, %r2; shl.b32 %r4, %r0, 3; add.u32 %r9, %r3, %r4;",
    false,
  ],
  ["shifted beyond 32 bits", "mad.lo.u32 %r2, %r0, 0x40000001, 0; shl.b32 %r2, %r2, 2; add.u32 %r9, %r1, %r2;", false],
  ["shifted back", "shl.b32 %r2, %r0, 2; shr.u32 %r2, %r2, 1; add.u32 %r9, %r1, %r2;", true],
  [
    "one of two, of which one is not",
    "shl.b32 %r2, %r0, 2; setp.gt.u32 %p0, %r0, 512; selp.b32 %r2, %r0, %r2, %p0; add.u32 %r9, %r1, %r2;",
    true,
  ],
  [
    "written twice",
    "shl.b32 %r2, %r0, 2; setp.gt.u32 %p0, %r0, 512; @%p0 add.u32 %r2, %r2, 1; add.u32 %r9, %r1, %r2;",
    true,
  ],
  [
    "a counter of a loop, times four",
    `mov.u32 %r3, 0; and.b32 %r4, %r0, 7; MORE: add.u32 %r3, %r3, 1; sub.s32 %r4, %r4, 1; setp.ge.s32 %p0, %r4, 0;
     @%p0 bra MORE; shl.b32 %r2, %r3, 2; mad.lo.u32 %r2, %t, 40, %r2; add.u32 %r9, %r1, %r2;`,
    false,
  ],
  [
    "a counter of a loop that grows by two",
    `mov.u32 %r3, 0; and.b32 %r4, %r0, 7; MORE: add.u32 %r3, %r3, 2; sub.s32 %r4, %r4, 1; setp.ge.s32 %p0, %r4, 0;
     @%p0 bra MORE; mad.lo.u32 %r2, %t, 40, %r3; add.u32 %r9, %r1, %r2;`,
    true,
  ],
];

test.each(cases)("addresses that are a multiple by %s", (name, address, isMisaligned) => {
  const body = `${scattered} ${address} ${move}`;
  const { reports } = expectSame({ name, body, before: words, tellsWho: false });
  expect(reports.length > 0).toBe(isMisaligned);
  for (const report of reports) expect(report).toMatchObject({ code: "misaligned-access" });
});

/** A word of eight bytes, and the second of two accesses to one address, which is not where the first one is. */
const others: readonly (Case & { readonly isMisaligned: boolean })[] = [
  {
    name: "eight bytes, of addresses that are multiples of four",
    body: `${scattered} shl.b32 %r2, %r0, 2; add.u32 %r9, %r1, %r2; ld.shared.u64 %d0, [%r9]; st.global.u64 [%out], %d0; ret;`,
    isMisaligned: true,
  },
  {
    name: "eight bytes, of addresses that are multiples of eight",
    body: `${scattered} and.b32 %r0, %r0, 511; shl.b32 %r2, %r0, 3; add.u32 %r9, %r1, %r2; ld.shared.u64 %d0, [%r9];
      st.global.u64 [%out], %d0; ret;`,
    isMisaligned: false,
  },
  {
    name: "an offset that is no multiple",
    body: `${scattered} shl.b32 %r2, %r0, 2; add.u32 %r9, %r1, %r2; ld.shared.u32 %r10, [%r9+2]; st.global.u32 [%out], %r10; ret;`,
    isMisaligned: true,
  },
  {
    name: "beyond the array, as multiples of four",
    body: `${scattered} shl.b32 %r2, %r0, 4; add.u32 %r9, %r1, %r2; ld.shared.u32 %r10, [%r9]; st.global.u32 [%out], %r10; ret;`,
    isMisaligned: true,
  },
];

test.each(others.map((c) => [c.name, c] as const))("%s", (_, { isMisaligned, ...test }) => {
  const { reports } = expectSame({ ...test, before: words, tellsWho: false });
  expect(reports.length > 0).toBe(isMisaligned);
});
