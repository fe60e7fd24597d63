import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { expectSameReports, expectSameResults, type PtxCase } from "./both-engines.ts";

// Blocks all of whose threads leave at the first branch are skipped, many of a row of the grid at once. Which threads
// leave is what the interpreter says, which runs each of them.

/** Numbers of the launch are in `%n` and `%m`; what goes on adds one to its thread's word of the buffer `%x`. */
const kernelOf = (before: string, add: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .align 4 .b8 blob[8]) {
.reg .pred %p, %q; .reg .b32 %i, %j, %k, %n, %m, %t, %u, %v, %w; .reg .b64 %x, %a, %d;
ld.param.u64 %x, [x]; ld.param.u32 %n, [blob]; ld.param.u32 %m, [blob+4];
mov.u32 %j, %ntid.x; mov.u32 %k, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %k, %j, %t;
mov.u32 %j, %ntid.y; mov.u32 %k, %ctaid.y; mov.u32 %t, %tid.y; mad.lo.s32 %u, %k, %j, %t;
${before}
${add}
END: ret;
}`;

const wordOf = `mov.u32 %j, %ntid.x; mov.u32 %k, %nctaid.x; mul.lo.s32 %w, %j, %k; mad.lo.s32 %w, %u, %w, %i;
mul.wide.u32 %d, %w, 4; add.s64 %a, %x, %d;`;

const addOne = `${wordOf} ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v;`;

interface Shape {
  readonly n: number;
  readonly m?: number;
  readonly grid: PtxCase["launch"]["grid"];
  readonly block: PtxCase["launch"]["block"];
  readonly hostThreads?: number;
}

const wordBytes = (values: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);

const caseOf = (before: string, { n, m = 0, ...launch }: Shape, words = 1 << 15): PtxCase => ({
  text: kernelOf(before, addOne),
  buffers: [new Uint8Array(4 * words)],
  blob: wordBytes([n, m]),
  launch,
});

const conditions: readonly (readonly [string, string])[] = [
  ["at the end", "setp.ge.s32 %p, %i, %n; @%p bra END;"],
  ["at the end, by a return", "setp.ge.s32 %p, %i, %n; @%p ret;"],
  ["at the end, by an exit", "setp.ge.u32 %p, %i, %n; @%p exit;"],
  ["at the beginning", "setp.lt.s32 %p, %i, %n; @%p bra END;"],
  ["unless the branch is taken", "setp.lt.s32 %p, %i, %n; @%p bra GO; ret; GO:"],
  ["in two directions", "setp.ge.s32 %p, %i, %n; setp.ge.s32 %q, %u, %m; or.pred %p, %p, %q; @%p bra END;"],
  ["in both directions", "setp.ge.s32 %p, %i, %n; setp.ge.s32 %q, %u, %m; and.pred %p, %p, %q; @%p bra END;"],
  ["by one branch for each direction", "setp.ge.s32 %p, %i, %n; @%p bra END; setp.ge.s32 %q, %u, %m; @%q bra END;"],
  [
    "by two branches, of which the second stays where it is taken",
    "setp.ge.u32 %p, %u, %m; @%p ret; setp.lt.u32 %q, %i, %n; @%q bra GO; ret; GO:",
  ],
  ["by the row alone", "setp.ge.s32 %p, %u, %m; @%p bra END;"],
  ["by the row alone, at the beginning", "setp.lt.s32 %p, %u, %m; @%p bra END;"],
  ["by rows in the middle", "sub.s32 %t, %u, %m; setp.lt.u32 %p, %t, %n; @%p bra END;"],
  ["where rows overflow", "mul.lo.s32 %t, %u, 700000000; setp.ge.s32 %p, %t, %n; @%p bra END;"],
  ["at both ends", "setp.lt.s32 %p, %i, %m; setp.ge.s32 %q, %i, %n; or.pred %p, %p, %q; @%p bra END;"],
  ["in the middle", "sub.s32 %t, %i, %m; setp.lt.u32 %p, %t, %n; @%p bra END;"],
  ["where numbers overflow", "add.s32 %t, %i, 2147483000; setp.lt.s32 %p, %t, %n; @%p bra END;"],
  ["by a multiple", "mul.lo.s32 %t, %i, -3; setp.lt.s32 %p, %t, %n; @%p bra END;"],
  ["by what is not linear", "and.b32 %t, %i, 255; setp.ge.s32 %p, %t, %n; @%p bra END;"],
  [
    "in a loop's kernel",
    "setp.ge.s32 %p, %i, %n; @%p bra END; mov.u32 %t, 3; L: sub.s32 %t, %t, 1; setp.gt.s32 %q, %t, 0; @%q bra L;",
  ],
];

describe("blocks that have nothing to do", () => {
  test.each(conditions)("%s", (_, before) => {
    for (const [n, m, grid, block] of [
      [0, 0, 40, 128],
      [300, 100, 40, 128],
      [1000, 3, 9, 100],
      [37, 5, [5, 4], [32, 4]],
      [70, 9, [3, 8], [40, 3]],
      [5, 70, [64, 3], [5, 7]],
      [40, 9, [3, 40], [32, 2]],
      [0, 30, [1, 50], [64, 1]],
      [-5, 20, [2, 30], [256, 2]],
      [1 << 20, 1 << 20, 17, 48],
    ] as const) {
      expectSameResults(caseOf(before, { n, m, grid, block }));
    }
  });

  test.each(conditions)("rows of a grid, each a block, and the ends of rows: %s", (_, before) => {
    for (const [n, m, height, width] of [
      [96, 17, 20, 208],
      [33, 0, 9, 208],
      [207, 3, 30, 208],
      [1, 40, 45, 100],
      [64, 90, 24, 250],
      [-1, 8, 12, 130],
    ] as const) {
      expectSameResults(caseOf(before, { n, m, grid: [1, height], block: [width, 1] }));
    }
  });

  test("with several threads of the host", () => {
    const [, before] = conditions[0]!;
    expectSameResults(caseOf(before, { n: 70_000, grid: 1000, block: 128, hostThreads: 2 }, 128_000));
  });

  test("rows of several planes", () => {
    const before = "setp.ge.s32 %p, %i, %n; @%p bra END; setp.ge.s32 %q, %u, %m; @%q bra END;";
    const text = kernelOf(before, `${wordOf} red.global.add.u32 [%a], 1;`);
    const launch = { grid: [3, 9, 4], block: [32, 3] } as const;
    const [words] = expectSameResults({
      text,
      buffers: [new Uint8Array(4 * 96 * 27)],
      blob: wordBytes([70, 12]),
      launch,
    });
    const counts = new Uint32Array(words!.buffer, words!.byteOffset, 96 * 27);
    expect([...counts]).toEqual(Array.from(counts, (_, i) => (i % 96 < 70 && i < 12 * 96 ? 4 : 0)));
  });

  test("rows, with several threads of the host", () => {
    const [, before] = conditions.find(([name]) => name === "by one branch for each direction")!;
    expectSameResults(caseOf(before, { n: 90, m: 700, grid: [3, 600], block: [32, 2], hostThreads: 2 }, 128_000));
  });

  test("faults of those that have something to do", () => {
    expectSameReports(caseOf("setp.lt.s32 %p, %i, %n; @%p bra END;", { n: 1000, grid: 20, block: 128 }, 1500));
  });

  test("what comes before the branch is done", () => {
    const before = `mul.wide.u32 %d, %i, 4; add.s64 %a, %x, %d; st.global.u32 [%a], %i;
setp.ge.s32 %p, %i, %n; @%p bra END;`;
    expectSameResults(caseOf(before, { n: 0, grid: 40, block: 128 }));
    const atomic = "atom.global.add.u32 %v, [%x], 1; setp.ge.s32 %p, %i, %n; @%p bra END;";
    expectSameResults(caseOf(atomic, { n: 0, grid: 40, block: 128 }));
    const between = `setp.ge.s32 %p, %u, %m; @%p bra END;
atom.global.add.u32 %v, [%x], 1; setp.ge.s32 %p, %i, %n; @%p bra END;`;
    expectSameResults(caseOf(between, { n: 0, m: 5, grid: [2, 6], block: [32, 2] }));
  });
});

// Some 10^13 threads: one by one, or block by block, they would take hours or minutes.
test("a grid that has nothing to do is no work", () => {
  const device = new Device();
  const buffer = device.buffer("u32", 128);
  const text = kernelOf("mov.u32 %k, %ctaid.x; setp.ge.u32 %p, %k, %n; @%p bra END;", addOne);
  const none = device.load(text).kernel("k");
  expect(none.launch({ grid: 2 ** 31 - 1, block: 1024, args: [buffer, new Uint32Array(2)] })).toMatchObject({
    ok: true,
  });
});

// As many rows: each would be a block to look at.
test("rows that have nothing to do are no work", () => {
  const device = new Device();
  const buffer = device.buffer("u32", 1 << 16);
  const text = kernelOf("setp.ge.u32 %p, %i, %n; @%p ret; setp.ge.u32 %q, %u, %m; @%q bra END;", addOne);
  const none = device.load(text).kernel("k");
  const words = new Uint32Array([1, 0]);
  const result = none.launch({ grid: [1, 65_535, 65_535], block: [32, 32], args: [buffer, words] });
  expect(result).toMatchObject({ ok: true });
});
