import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

// Threads of one row that share out several short rows of numbers among them, as in `t / 8 * n + t % 8`: each quad's
// words follow each other wherever the rows lie. The interpreter is the reference.

const count = 4096;
const table = `.global .align 4 .u32 table[${count}] = {${Array.from({ length: count }, (_, i) => (i * 7919) % 65521).join()}};`;

const blocks: readonly (readonly [Dim3, Dim3])[] = [
  [
    [256, 1, 1],
    [2, 1, 1],
  ],
  [
    [96, 1, 1],
    [3, 1, 1],
  ],
  [
    [64, 2, 1],
    [1, 2, 1],
  ],
  [
    [40, 1, 1],
    [2, 1, 1],
  ],
  [
    [16, 4, 1],
    [2, 1, 1],
  ],
];

const begin = `mov.u64 %d0, table; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
mad.lo.s32 %r3, %r1, %r2, %r0;`;

test.each([
  ["i / 8", "shr.u32 %r4, %r3, 3; and.b32 %r5, %r3, 7; mad.lo.u32 %r6, %r4, 52, %r5;"],
  [
    "i / 4, with signs",
    "shr.s32 %r4, %r3, 2; and.b32 %r5, %r3, -4; sub.s32 %r5, %r3, %r5; mad.lo.s32 %r6, %r4, 29, %r5;",
  ],
  ["t / 8 in fields of bits", "shr.u32 %r4, %r0, 3; and.b32 %r5, %r3, 7; bfi.b32 %r6, %r4, %r5, 5, 20;"],
  [
    "i / 8 from the third thread on",
    "add.s32 %r4, %r3, 3; shr.u32 %r4, %r4, 3; and.b32 %r5, %r3, 7; mad.lo.u32 %r6, %r4, 20, %r5;",
  ],
  [
    "(i + n) / 8",
    "add.s32 %r4, %r3, %n; shr.u32 %r4, %r4, 3; and.b32 %r5, %r3, 7; mad.lo.u32 %r6, %r4, 3, %r5; and.b32 %r6, %r6, 2047;",
  ],
])("rows by %s", (_, index) => {
  const body = `${begin} ${index} and.b32 %r6, %r6, ${count - 1}; mad.wide.u32 %d1, %r6, 4, %d0; ld.global.u32 %r7, [%d1];
    mul.lo.u32 %r7, %r7, 3; setp.gt.u32 %p0, %r7, 60000; @%p0 add.u32 %r7, %r7, 1; st.global.u32 [%out], %r7;
    bar.sync 0; @%p0 st.global.u32 [%d1], %r3; bar.sync 0; ld.global.u32 %r8, [%d1]; st.global.u32 [%out+4], %r8; ret;`;
  for (const [block, grid] of blocks) {
    const { reports } = expectSame({ name: "", before: table, body, block, grid, words: 2 });
    expect({ block, reports }).toEqual({ block, reports: [] });
  }
});

// The low bits of addresses follow each other, the others do not.
test("rows that lie 4 GiB apart are outside of the table", () => {
  const body = `${begin} mul.lo.u32 %r4, %r0, 0x40000001; mad.wide.u32 %d1, %r4, 4, %d0; ld.global.u32 %r7, [%d1];
    st.global.u32 [%out], %r7; ret;`;
  const { reports } = expectSame({ name: "", before: table, body, block: [64, 1, 1], words: 1 });
  expect(reports.length).toBeGreaterThan(0);
});
