import { expect, test } from "vitest";
import { type Case, expectSame, inWarps } from "./harness.ts";

/** Rows of 16 bytes in shared memory, one for each thread; each starts as four words that no copy writes. */
const before = ".shared .align 16 .b8 rows[1024]; .global .align 16 .b32 source[256];";
const begin = `mov.u32 %r30, rows; shl.b32 %r31, %t, 4; add.u32 %r30, %r30, %r31;
  mov.u64 %d0, source; cvta.global.u64 %d1, %d0; cvt.u64.u32 %d2, %r31; add.u64 %d0, %d0, %d2;
  mad.lo.u32 %r1, %t, 77, 1; mad.lo.u32 %r2, %t, 0x9e3779b1, 2; mad.lo.u32 %r3, %t, 3, 0x30000; not.b32 %r4, %r2;
  st.global.v4.b32 [%d0], {%r1, %r2, %r3, %r4}; mov.u32 %r5, 0x5a5a5a5a;
  st.shared.v4.b32 [%r30], {%r5, %r5, %r5, %r5}; and.b32 %r6, %t, 3; setp.eq.u32 %p0, %r6, 1; bar.sync 0;`;
const wait = "cp.async.wait_all; bar.sync 0;";
/** Rows as they lie in memory; then what another warp's lanes see of them. */
const end = `ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r30];
  st.global.v4.b32 [%out], {%r10, %r11, %r12, %r13}; ret;`;

const copy = (size: string): string => `cp.async.cg.shared.global [%r30], [%d0], 16${size};`;

const copies: readonly (readonly [string, string])[] = [
  ["all bytes", copy("")],
  ["none or all", `selp.b32 %r7, 16, 0, %p0; ${copy(", %r7")}`],
  ["any number of bytes", `and.b32 %r7, %t, 15; ${copy(", %r7")}`],
  ["more bytes than there are", `add.u32 %r7, %t, 1; ${copy(", %r7")}`],
  ["ignoring the source", "cp.async.cg.shared.global [%r30], [%d0], 16, %p0;"],
  ["under a guard", `@%p0 ${copy("")}`],
  ["of a part, under a guard", `mov.u32 %r7, 6; @!%p0 ${copy(", %r7")}`],
  ["under a guard of all", `setp.lt.u32 %p1, %n, 100; @%p1 ${copy("")}`],
  ["where lanes are apart", `@%p0 bra SKIP; ${copy("")} SKIP:`],
  ["twice with the same registers", `${copy("")} xor.b32 %r31, %r31, 16; add.u64 %d0, %d1, %d2; ${copy(", 4")}`],
  ["loads and stores", "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0]; st.shared.v4.b32 [%r30], {%r1, %r2, %r3, %r4};"],
  [
    "loads under a guard, of registers with other values",
    "@%p0 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0]; st.shared.v4.b32 [%r30], {%r1, %r2, %r3, %r4};",
  ],
  [
    "loads whose registers are needed again",
    `ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0]; st.shared.v4.b32 [%r30], {%r1, %r2, %r3, %r4};
     @%p0 st.shared.b32 [%r30+8], %r1;`,
  ],
];

test.each(copies)("copies of rows: %s", (name, body) => {
  const c: Case = { name, before, block: [64, 1, 1], body: `${begin} ${body} ${wait} ${end}` };
  expect(expectSame(c).reports).toEqual([]);
});

const shapes = ["x1", "x2", "x4"].flatMap((count) => ["", ".trans"].map((trans) => [count, trans] as const));

test.each(shapes)("ldmatrix.%s%s", (count, trans) => {
  const registers = ["%r10", "%r11", "%r12", "%r13"].slice(0, Number(count.slice(1))).join(", ");
  const load = `ldmatrix.sync.aligned.m8n8.${count}${trans}.shared.b16 {${registers}}, [%r30];`;
  // The rows of a matrix are not in the order of memory.
  const body = `${begin} ${copy("")} ${wait} xor.b32 %r30, %r30, 48; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
    ${load} add.u32 %r10, %r10, 1; ${load.replace("%r10", "%r14")} xor.b32 %r10, %r10, %r14;
    st.global.v4.b32 [%out], {%r10, %r11, %r12, %r13}; ret;`;
  expect(expectSame({ name: count, before, block: [64, 1, 1], body }, inWarps).reports).toEqual([]);
});

const faults: readonly (readonly [string, string, string])[] = [
  ["a source that ends too soon", "add.u64 %d0, %d0, 3584;", "global-out-of-bounds"],
  ["a destination that is not aligned", "add.u32 %r30, %r30, 8;", "misaligned-access"],
];

test.each(faults)("copies of rows: %s", (name, change, code) => {
  for (const size of ["", ", 5"]) {
    const c: Case = { name, before, block: [64, 1, 1], body: `${begin} ${change} ${copy(size)} ${wait} ${end}` };
    expect(expectSame({ ...c, tellsWho: false }).reports).toMatchObject([{ code }]);
  }
});
