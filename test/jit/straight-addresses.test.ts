import { describe, expect, test } from "vitest";
import { expectSameReports, expectSameResults, type PtxCase } from "./both-engines.ts";

// Clamped addresses of a chunk follow each other where nothing is clamped in any of its lanes. This is tested at the
// chunk's ends, from what the address was computed from, wherever that still has its value. The results are those of
// the interpreter.

/** `%i` is the thread's number in the grid, of which addresses in `%x` are computed; `%o` is where it stores `%v`. */
const kernelOf = (body: string, type = "u32"): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 4 .b8 blob[8]) {
.reg .pred %p<9>; .reg .b32 %i, %n, %m, %v, %s, %r<30>; .reg .b64 %x, %y, %o, %d<30>;
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [blob]; ld.param.u32 %m, [blob+4];
mov.u32 %r0, %ntid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %i, %r1, %r0, %r2;
mul.wide.u32 %d0, %i, 4; add.s64 %o, %y, %d0; mov.u32 %v, 0;
${body.replaceAll("LOAD", `ld.global.${type}`)}
st.global.u32 [%o], %v;
END: ret;
}`;

const words = (count: number, at: (i: number) => number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => at(i)).buffer);

const threads = 320;

function caseOf(body: string, n: number, m: number, type?: string): PtxCase {
  return {
    text: kernelOf(body, type),
    buffers: [words(threads, (i) => Math.imul(i + 1, 0x9e37_79b1) >>> 0), words(threads, () => 0)],
    blob: words(2, (i) => [n, m][i]!),
    launch: { grid: threads / 64, block: 64 },
  };
}

const load = (index: string, to: string, scale: number): string =>
  `mul.wide.s32 %d1, ${index}, ${scale}; add.s64 %d2, %x, %d1; LOAD ${to}, [%d2];`;
const inside = "setp.ge.s32 %p8, %i, %n; @%p8 bra END;";

/** Sums up neighbours from `%i - %m` to `%i + %m`; `step` makes an index of `%r9`, the place of one. */
const sum = (step: string, index: string, scale: number): string => `${inside} sub.s32 %r10, %n, 1; neg.s32 %r8, %m;
AGAIN: add.s32 %r9, %i, %r8; ${step} ${load(index, "%s", scale)} mad.lo.s32 %v, %v, 5, %s;
add.s32 %r8, %r8, 1; setp.le.s32 %p1, %r8, %m; @%p1 bra AGAIN;`;

const steps: readonly (readonly [string, string, string])[] = [
  ["clamped at both ends", "max.s32 %r11, %r9, 0; min.s32 %r12, %r11, %r10;", "%r12"],
  ["clamped at the far end first", "min.s32 %r11, %r9, %r10; max.s32 %r12, %r11, 0;", "%r12"],
  ["clamped at the end alone", "max.s32 %r11, %r9, 0; min.u32 %r12, %r11, %r10;", "%r12"],
  [
    "chosen by conditions",
    "setp.lt.s32 %p2, %r9, 0; selp.b32 %r11, 0, %r9, %p2; setp.gt.s32 %p3, %r11, %r10; selp.b32 %r12, %r10, %r11, %p3;",
    "%r12",
  ],
  [
    "around the ends",
    "add.s32 %r13, %r9, %n; sub.s32 %r14, %r9, %n; setp.lt.s32 %p2, %r9, 0; selp.b32 %r11, %r13, %r9, %p2; setp.ge.s32 %p3, %r9, %n; selp.b32 %r12, %r14, %r11, %p3;",
    "%r12",
  ],
  ["clamped where the place is no more", "max.s32 %r11, %r9, 0; mov.b32 %r9, %n; min.s32 %r12, %r11, %r10;", "%r12"],
  ["clamped in place", "max.s32 %r9, %r9, 0; min.s32 %r9, %r9, %r10;", "%r9"],
  ["backwards", "max.s32 %r11, %r9, 0; min.s32 %r12, %r11, %r10; sub.s32 %r13, %r10, %r12;", "%r13"],
  ["plus what all share", "min.s32 %r11, %r9, %r10; max.s32 %r12, %r11, 3; sub.s32 %r13, %r12, 3;", "%r13"],
  ["times two, halved", "max.s32 %r11, %r9, 0; min.s32 %r12, %r11, %r10; shr.s32 %r13, %r12, 1;", "%r13"],
  [
    "a bound that changes",
    "add.s32 %r14, %r8, %m; sub.s32 %r15, %r10, %r14; max.s32 %r16, %r15, 0; max.s32 %r11, %r9, 0; min.s32 %r12, %r11, %r16;",
    "%r12",
  ],
];

describe.each([
  ["words", "u32", 4],
  ["bytes", "u8", 1],
] as const)("%s", (_, type, scale) => {
  test.each(steps)("neighbours %s", (_, step, index) => {
    for (const [n, m] of [
      [threads, 2],
      [threads - 7, 1],
      [threads - 64, 40],
      [40, 3],
      [1, 1],
    ] as const) {
      expectSameResults(caseOf(sum(step, index, scale), n, m, type));
    }
  });

  test("a neighbour in a row of which the end is not that of a block", () => {
    const body = `${inside} sub.s32 %r3, %i, 1; max.s32 %r4, %r3, 0; ${load("%r4", "%s", scale)} add.s32 %v, %v, %s;
setp.eq.s32 %p1, %i, %m; sub.s32 %r5, %n, 1; add.s32 %r6, %i, 1; selp.b32 %r7, %r5, %r6, %p1;
min.s32 %r8, %r7, %r5; ${load("%r8", "%s", scale)} add.s32 %v, %v, %s;`;
    for (const m of [0, 37, 63, 64, 100, 1000]) expectSameResults(caseOf(body, threads, m, type));
  });

  test("numbers that wrap around between the ends of a chunk", () => {
    // The sum passes 2^31 in the middle of a chunk: beyond, the least of the two is the number, not the bound.
    const body = `add.s32 %r3, %i, %m; min.s32 %r4, %r3, 2147483600; max.s32 %r5, %r4, 2147483500;
sub.s32 %r6, %r5, 2147483500; ${load("%r6", "%v", scale)}`;
    for (const by of [8, 40, 100, 300]) expectSameResults(caseOf(body, 0, 2 ** 31 - by, type));
    const unsigned = `add.s32 %r3, %i, %m; min.u32 %r4, %r3, 300; ${load("%r4", "%v", scale)}`;
    for (const by of [8, 40, 100, 300]) expectSameResults(caseOf(unsigned, 0, 2 ** 32 - by, type));
  });
});

test("places beyond the end are reported where they are", () => {
  const body = `sub.s32 %r3, %i, 1; max.s32 %r4, %r3, 0; add.s32 %r5, %r4, %m; ${load("%r5", "%v", 4)}`;
  expect(expectSameReports(caseOf(body, 0, 40))).toHaveLength(1);
  expect(expectSameReports(caseOf(body, 0, 4000))).toHaveLength(1);
});
