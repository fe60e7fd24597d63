import { describe, expect, test } from "vitest";
import { type Case, expectSame } from "./harness.ts";

const count = 64;
/** Where lanes load from: a permutation, in bytes, and words that tell where they have been. */
const before = `.global .align 4 .u32 places[${count}] = {${Array.from({ length: count }, (_, i) => 4 * ((i * 37) % count)).join()}};
.global .align 4 .u32 table[${count + 3}] = {${Array.from({ length: count + 3 }, (_, i) => i * 7919 + 3).join()}};`;

const begin = `mov.u32 %r0, %tid.x; mov.u64 %d0, places; mad.wide.u32 %d0, %r0, 4, %d0; ld.global.u32 %r1, [%d0];
mov.u64 %d1, table; cvt.u64.u32 %d2, %r1; add.s64 %d1, %d1, %d2; mov.u32 %r9, 77;`;
const keep = "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7}; st.global.u32 [%out+16], %r9;";

const good: readonly (readonly [string, string])[] = [
  [
    "four words",
    "ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+4]; ld.global.u32 %r6, [%d1+8]; ld.global.u32 %r7, [%d1+12];",
  ],
  [
    "in another order, with other work between",
    `ld.global.u32 %r6, [%d1+8]; mul.lo.u32 %r6, %r6, 3; ld.global.u32 %r4, [%d1]; add.u32 %r9, %r4, %r6;
     ld.global.u32 %r7, [%d1+12]; ld.global.u32 %r5, [%d1+4];`,
  ],
  [
    "three of four",
    "ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+4]; mov.u32 %r6, 1; ld.global.u32 %r7, [%d1+12];",
  ],
  [
    "one word twice",
    `ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+4]; ld.global.u32 %r6, [%d1+8]; ld.global.u32 %r7, [%d1+4];`,
  ],
  [
    "with a store between",
    `ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+4]; ld.global.u32 %r6, [%d1+8]; st.global.u32 [%out+4], %r5;
     ld.global.u32 %r7, [%d1+12]; ld.global.u32 %r9, [%out+4];`,
  ],
  [
    "in some lanes",
    `mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; rem.u32 %r8, %r0, 3; setp.eq.u32 %p1, %r8, 0;
     @%p1 add.s64 %d1, %d1, 0x12345670; @%p1 bra SKIP;
     ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+4]; ld.global.u32 %r6, [%d1+8]; ld.global.u32 %r7, [%d1+12];
     SKIP:`,
  ],
];

const caseOf = (name: string, body: string): Case => ({
  name,
  body: `${begin}\n${body}\n${keep}\nret;`,
  before,
  block: [60, 1, 1],
  words: 8,
});

describe("words one after another, each lane's somewhere else", () => {
  test.each(good)("%s", (name, body) => {
    const { out, reports } = expectSame(caseOf(name, body));
    expect(reports).toEqual([]);
    expect(new Set(out).size).toBeGreaterThan(3);
  });

  test("the last of them in one lane after the end", () => {
    const loads =
      "ld.global.u32 %r4, [%d1+4]; ld.global.u32 %r5, [%d1+8]; ld.global.u32 %r6, [%d1+12]; ld.global.u32 %r7, [%d1+16];";
    const { reports } = expectSame({ ...caseOf("after the end", loads), block: [64, 1, 1] });
    expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
  });
});

describe("words one after another of rows that lie evenly, or in a pattern", () => {
  const rows = 64;
  const shared = `.shared .align 16 .b8 s[${4 * 11 * rows}];`;
  const fill = `mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, %r0;
    FILL: mad.lo.u32 %r3, %r2, 4, %r1; mad.lo.u32 %r8, %r2, 2654435761, 12345; st.shared.u32 [%r3], %r8;
    add.u32 %r2, %r2, ${rows}; setp.lt.u32 %p1, %r2, ${11 * rows}; @%p1 bra FILL; bar.sync 0; mov.u32 %r9, 77;`;
  const loads = ([a, b, c, d]: readonly number[]): string =>
    [a, b, c, d].map((word, i) => `ld.shared.u32 %r${4 + i}, [%r8+${4 * word!}];`).join(" ");
  const places: readonly (readonly [name: string, place: string])[] = [
    ...[4, 5, 7].map((stride) => [`${stride} words apart`, `mul.lo.u32 %r2, %r0, ${stride};`] as const),
    ["backwards", "sub.u32 %r2, 63, %r0; mul.lo.u32 %r2, %r2, 5;"],
    ["padded", "shr.u32 %r3, %r0, 3; mad.lo.u32 %r2, %r0, 7, %r3;"],
    ["turned", "xor.b32 %r3, %r0, 1; mul.lo.u32 %r2, %r3, 9;"],
    ["that some share", "shr.u32 %r3, %r0, 1; mul.lo.u32 %r2, %r3, 20;"],
  ];

  test.each(places)("%s", (name, place) => {
    for (const words of [
      [0, 1, 2, 3],
      [3, 0, 2, 0],
      [1, 2, 4, 5],
    ]) {
      const body = `${fill} ${place} mad.lo.u32 %r8, %r2, 4, %r1; ${loads(words)} ${keep}\nret;`;
      const { reports } = expectSame({ name, before: shared, body, block: [rows, 1, 1], words: 8 });
      expect(reports).toEqual([]);
    }
  });

  test("of which the last ends after the variable", () => {
    const body = `${fill} mul.lo.u32 %r2, %r0, 11; mad.lo.u32 %r8, %r2, 4, %r1; ${loads([8, 9, 10, 11])} ${keep}\nret;`;
    const { reports } = expectSame({ name: "after the end", before: shared, body, block: [rows, 1, 1], words: 8 });
    expect(reports).toMatchObject([{ code: "shared-out-of-bounds" }]);
  });
});
