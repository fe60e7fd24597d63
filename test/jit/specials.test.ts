import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

const names = [
  ...["tid", "ntid", "ctaid", "nctaid"].flatMap((v) => ["x", "y", "z"].map((c) => `%${v}.${c}`)),
  ...["%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%dynamic_smem_size", "%total_smem_size"],
  ...["%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"],
];
const shapes: readonly [block: Dim3, grid: Dim3][] = [
  [
    [64, 1, 1],
    [2, 2, 2],
  ],
  [
    [45, 1, 1],
    [3, 1, 1],
  ],
  [
    [5, 7, 1],
    [1, 2, 1],
  ],
  [
    [4, 4, 4],
    [1, 1, 1],
  ],
  [
    [16, 3, 1],
    [1, 1, 2],
  ],
  [
    [3, 5, 3],
    [1, 1, 1],
  ],
  [
    [32, 2, 1],
    [1, 1, 1],
  ],
  [
    [1, 1, 1],
    [1, 1, 1],
  ],
];
const store = (values: readonly string[]): string =>
  values.map((v, i) => `mov.u32 %r0, ${v}; st.global.b32 [%out+${4 * i}], %r0;`).join("\n");

test.each(shapes)("every special register, in blocks of %j and a grid of %j", (block, grid) => {
  const { reports } = expectSame({
    name: "",
    body: `mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mul.lo.u32 %r1, %r1, %r2; mov.u32 %r2, %ctaid.y;
      add.u32 %r1, %r1, %r2; mov.u32 %r2, %nctaid.x; mul.lo.u32 %r1, %r1, %r2; mul.lo.u32 %r1, %r1, %n;
      mad.wide.u32 %out, %r1, ${4 * names.length}, %out; ${store(names)} ret;`,
    block,
    grid,
    words: names.length,
  });
  expect(reports).toEqual([]);
});

test("the clock goes on from instruction to instruction, and is the same for all lanes of a warp", () => {
  const body = `mov.u32 %r0, %clock; mov.u64 %d0, %clock64; mov.u32 %r1, %clock_hi; mov.u64 %d1, %globaltimer;
    mov.u32 %r3, %globaltimer_lo; setp.gt.u64 %p0, %d1, %d0; cvt.u64.u32 %d2, %r0; setp.gt.u64 %p1, %d0, %d2;
    cvt.u64.u32 %d2, %r3; setp.gt.u64 %p2, %d2, %d1; and.pred %p0, %p0, %p1; and.pred %p0, %p0, %p2;
    selp.b32 %r2, 1, 0, %p0; match.all.sync.b32 %r4|%p3, %r3, -1; selp.b32 %r5, 1, 0, %p3;
    st.global.b32 [%out], %r2; st.global.b32 [%out+4], %r1; st.global.b32 [%out+8], %r5; ret;`;
  const { out } = expectSame({ name: "", body, block: [64, 1, 1] });
  expect([...new Set(out)]).toEqual([1, 0]);
});

const masks = [31, 32, 15, 7, 3, 0x18, 0x1f0, -8, -32, 0x7fff_ffff];
const bounds = [0, 4, 7, 8, 15, 16, 31, 32, 33, 64, -1, -32];

/** What is made of the number of a thread; each is computed into a register of its own. */
const parts = [
  ...masks.flatMap((m) => [`and.b32 D, N, ${m};`, `and.b32 D, ${m}, N;`]),
  ...[0, 2, 3, 4, 5, 6, 31, 32].flatMap((c) => [`shr.u32 D, N, ${c};`, `shr.s32 D, N, ${c};`]),
  ...["lt", "le", "gt", "ge"].flatMap((relation) =>
    ["u32", "s32"].flatMap((ty) =>
      bounds.flatMap((b) => [
        `setp.${relation}.${ty} P, N, ${b}; selp.b32 D, 1, 0, P;`,
        `setp.${relation}.${ty} P, ${b}, N; selp.b32 D, 1, 0, P;`,
      ]),
    ),
  ),
];

test.each(["%tid.x", "%laneid"])("numbers of warps and of lanes, from %s", (special) => {
  // Rows of a chunk, a row that ends within one, and no rows.
  for (const block of [
    [64, 1, 1],
    [45, 1, 1],
    [4, 4, 1],
  ] as const) {
    const lines = parts.map((part, i) => {
      const text = part.replaceAll("D", `%a${i}`).replaceAll("P", `%q${i}`).replaceAll("N", "%number");
      return `${text} st.global.b32 [%out+${4 * i}], %a${i};`;
    });
    const body = `{ .reg .b32 %a<${parts.length}>, %number; .reg .pred %q<${parts.length}>; mov.u32 %number, ${special};
      ${lines.join("\n")} } ret;`;
    const test = { name: "", body, block, words: parts.length };
    expect(expectSame(test).reports).toEqual([]);
  }
});
