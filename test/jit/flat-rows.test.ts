import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

// Chunks of several rows: where rows continue each other, a value is affine although it is computed from vectors, and
// goes on from the first lane. The interpreter says what comes out.
const shapes: readonly Dim3[] = [
  [16, 16, 1],
  [8, 8, 1],
  [4, 3, 1],
  [5, 7, 1],
  [16, 4, 3],
  [2, 2, 9],
  [1, 40, 1],
];

const bodyFor = ([x]: Dim3, what: string): string => `mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;
mad.lo.u32 %r2, %r1, ${x}, %r0; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, ${x}, %r2; ${what}`;

const stores = "st.global.u32 [%out], %r4; st.global.u32 [%out+4], %r5; st.global.u32 [%out+8], %r6; ret;";

test.each(shapes.map((shape) => [shape.join(" x "), shape] as const))("rows of blocks of %s", (_, block) => {
  const same = (what: string): void => {
    expect(expectSame({ name: "", body: bodyFor(block, what), block, grid: [2, 1, 1] }).reports).toEqual([]);
  };
  same(`mul.lo.u32 %r5, %r4, 12; sub.u32 %r6, %r2, %r0; ${stores}`);
  // Only some lanes write the row, and the first of a chunk may not be one of them.
  same(`mov.u32 %r5, 7; setp.lt.u32 %p0, %r2, 3; @%p0 bra END; mad.lo.u32 %r5, %r1, ${block[0]}, %r0; END:
add.u32 %r6, %r5, %r0; ${stores}`);
  same(`mov.u32 %r1, 3; setp.eq.u32 %p0, %r0, 0; @%p0 bra END; mov.u32 %r1, %tid.y; END:
mad.lo.u32 %r5, %r1, ${block[0]}, %r0; sub.u32 %r6, %r5, %r2; ${stores}`);
  // A loop of which lanes leave at different times.
  same(`mov.u32 %r5, 0; mov.u32 %r6, %r1; LOOP: mad.lo.u32 %r5, %r6, ${block[0]}, %r0; add.u32 %r6, %r6, 1;
setp.lt.u32 %p0, %r6, 5; @%p0 bra LOOP; ${stores}`);
});

test.each([
  ["to the last word", 0, []],
  ["beyond it", 4, ["global-out-of-bounds"]],
])("words of rows that continue each other, %s", (_, offset, codes) => {
  const before = `.global .align 4 .b32 table[256] = {${Array.from({ length: 256 }, (_, i) => 3 * i).join()}};`;
  const body = `${bodyFor([16, 16, 1], "mov.u64 %d0, table; mad.wide.u32 %d0, %r2, 4, %d0;")}
ld.global.u32 %r4, [%d0+${offset}]; mov.u32 %r5, 1; mov.u32 %r6, 2; ${stores}`;
  const { reports } = expectSame({ name: "", before, body, block: [16, 16, 1] });
  expect(reports.map((report) => (report as { readonly code: string }).code)).toEqual(codes);
});
