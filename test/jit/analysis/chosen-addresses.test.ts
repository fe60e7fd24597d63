import { describe, expect, test } from "vitest";
import { withChosenAddresses } from "../../../src/jit/compile/analysis/code/chosen-addresses.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { SourceText } from "../../../src/source/index.ts";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import { expectSame } from "../harness.ts";

// Branches that only choose between addresses have operations in their place, and others are left as they are.

const before = ".shared .align 16 .b8 s[4096]; .shared .align 16 .b8 t[4096];";

/** Registers of all kernels, and their values: `%x` and `%y` are numbers of threads in
 * blocks of `%w` by `%h`, `%a` and `%b` are two arrays. */
const start = `.reg .b32 %x, %y, %w, %h, %a, %b, %at; .reg .b16 %half; .reg .pred %q;
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, %ntid.x; mov.u32 %h, %ntid.y;
  mov.u32 %a, s; mov.u32 %b, t; mad.lo.u32 %r30, %y, %w, %x; mad.lo.u32 %r31, %r30, 40503, 977; shl.b32 %r32, %r30, 2;
  add.u32 %r33, %a, %r32; st.shared.u32 [%r33], %r31; add.u32 %r33, %b, %r32; st.shared.u32 [%r33], %r30; bar.sync 0;`;
const load = "ld.shared.u32 %n, [%at]; st.global.u32 [%out], %n; ret;";

/** A choice between two arrays and two places, one in the other, as at the borders of a tile. */
const nested = `setp.eq.s32 %p1, %y, 1; setp.eq.s32 %p2, %x, 15; and.pred %p3, %p1, %p2; add.s32 %at, %b, 60;
  @%p3 bra JOIN; @%p2 bra EDGE; bra.uni ROW;
  EDGE: mad.lo.s32 %at, %y, 64, %b; bra.uni JOIN;
  ROW: @%p1 bra LAST; bra.uni INNER;
  LAST: mad.lo.s32 %at, %x, 4, %b; bra.uni JOIN;
  INNER: mad.lo.s32 %at, %x, 4, %a; add.s32 %at, %at, 4;
  JOIN:`;

/** By name, what comes before a load from `%at`. */
const chosen: Readonly<Record<string, string>> = {
  "one of two places": `setp.gt.u32 %p1, %x, 5; @%p1 bra FAR; mad.lo.u32 %at, %x, 4, %a; bra.uni JOIN;
    FAR: add.u32 %at, %b, 8; JOIN:`,
  "another place for some threads": `mad.lo.u32 %at, %x, 4, %a; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN; add.u32 %at, %b, 8; JOIN:`,
  nested,
  "a place computed step by step, of what the branch has changed": `mov.u32 %r1, 1; setp.gt.u32 %p1, %x, 5; @%p1 bra FAR;
    add.u32 %r1, %r1, 2; shl.b32 %r2, %r1, 2; add.u32 %at, %a, %r2; bra.uni JOIN;
    FAR: shl.b32 %r1, %r1, 4; add.u32 %at, %b, %r1; JOIN: add.u32 %at, %at, 4;`,
  "two registers that change places": `mov.u32 %r1, %a; mov.u32 %r2, %b; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN;
    mov.u32 %r3, %r1; mov.u32 %r1, %r2; mov.u32 %r2, %r3; JOIN: add.u32 %at, %r1, 8; ld.shared.u32 %r4, [%r2+8];
    st.shared.u32 [%r2+1024], %r4;`,
  "a condition that is written again between": `setp.gt.u32 %p1, %x, 5; @%p1 bra FAR; setp.gt.u32 %p1, %x, 2;
    @%p1 bra NEAR; add.u32 %at, %a, 4; bra.uni JOIN; NEAR: add.u32 %at, %a, 12; bra.uni JOIN;
    FAR: add.u32 %at, %b, 8; JOIN:`,
  "what is computed before a branch within another, and read after it": `setp.gt.u32 %p1, %x, 5; setp.gt.u32 %p2, %x, 2;
    @%p1 bra FAR; shl.b32 %r1, %x, 2; mov.u32 %at, %a; @%p2 bra SAME; mov.u32 %at, %b; SAME: add.u32 %at, %at, %r1;
    bra.uni JOIN; FAR: add.u32 %at, %b, 8; JOIN:`,
  "where the branch is not taken": `mad.lo.u32 %at, %x, 4, %a; setp.gt.u32 %p1, %x, 5; @!%p1 bra JOIN; add.u32 %at, %b, 8; JOIN:`,
};

const left: Readonly<Record<string, string>> = {
  "a load": `mov.u32 %at, %a; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN; ld.shared.u32 %r1, [%b]; and.b32 %r1, %r1, 12;
    add.u32 %at, %at, %r1; JOIN:`,
  "a barrier": `mov.u32 %at, %a; setp.gt.u32 %p1, %w, 5; @%p1 bra JOIN; bar.sync 0; add.u32 %at, %at, 4; JOIN:`,
  "a division": `mov.u32 %at, %a; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN; div.u32 %r1, %x, %h; shl.b32 %r1, %r1, 2;
    add.u32 %at, %at, %r1; JOIN:`,
  "a loop": `mov.u32 %at, %a; mov.u32 %r1, 0; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN; AGAIN: add.u32 %at, %at, 4;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %x; @%p2 bra AGAIN; JOIN:`,
  "a place that others come to": `mov.u32 %at, %a; setp.gt.u32 %p1, %x, 9; @%p1 bra SHARED; st.shared.u32 [%r33+2048], %x;
    setp.gt.u32 %p2, %x, 5; @%p2 bra JOIN; SHARED: add.u32 %at, %at, 4; JOIN:`,
  "a guarded operation": `mov.u32 %at, %a; setp.gt.u32 %p1, %x, 5; setp.gt.u32 %p2, %x, 2; @%p1 bra JOIN;
    @%p2 add.u32 %at, %at, 4; JOIN:`,
  "a predicate that is read later": `mov.u32 %at, %a; setp.gt.u32 %q, %x, 3; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN;
    setp.gt.u32 %q, %x, 2; add.u32 %at, %at, 4; JOIN: @%q add.u32 %at, %at, 4;`,
  "a half of a word": `cvt.u16.u32 %half, %x; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN; mov.u16 %half, 3;
    JOIN: cvt.u32.u16 %r1, %half; mad.lo.u32 %at, %r1, 4, %a;`,
  "an address of 64 bits": `mov.u64 %d1, %out; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN; add.u64 %d1, %d1, 0;
    JOIN: st.global.u32 [%d1], %x; mov.u32 %at, %a;`,
  "a value of which no address is computed": `mov.u32 %at, %a; mov.u32 %r1, 0; setp.gt.u32 %p1, %x, 5; @%p1 bra JOIN;
    mov.u32 %r1, 7; JOIN: st.shared.u32 [%b+2048], %r1;`,
};

const kernel = (body: string): string => `${start} ${body} ${load}`;

const shapes: readonly Dim3[] = [
  [16, 2, 1],
  [32, 1, 1],
  [16, 16, 1],
  [10, 3, 1],
  [64, 2, 1],
];

/** The branches of a kernel, as it is written and once addresses are chosen. */
function branchesIn(body: string): readonly [number, number] {
  const text = `.version 8.6 .target sm_90 .address_size 64 ${before}
    .visible .entry k(.param .u64 out) { .reg .b64 %out, %d<2>; .reg .b32 %r<40>, %n; .reg .pred %p<9>; ld.param.u64 %out, [out];
    ${kernel(body)} }`;
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const ir = module!.functions[0]!;
  const count = (f: typeof ir): number =>
    f.instructions.filter((i) => i.op.kind === "branch" && i.guard !== null).length;
  return [count(ir), count(withChosenAddresses({ ir, origins: null }).ir)];
}

describe("chosen", () => {
  test.each(Object.entries(chosen))("%s", (_, body) => {
    const [written, rest] = branchesIn(body);
    expect(written).toBeGreaterThan(0);
    expect(rest).toBe(0);
  });
});

describe("left as it is", () => {
  test.each(Object.entries(left))("%s", (_, body) => {
    const [written, rest] = branchesIn(body);
    expect(rest).toBe(written);
  });
});

describe("the same as the interpreter", () => {
  test.each(Object.entries({ ...chosen, ...left }))("%s", (_, body) => {
    for (const block of shapes) {
      const { reports } = expectSame({ name: "", before, body: kernel(body), block, grid: [2, 1, 1], words: 1 });
      expect({ block, reports }).toEqual({ block, reports: [] });
    }
  });

  test("where some threads' place lies between the two arrays", () => {
    const body = `mad.lo.u32 %at, %x, 4, %a; setp.ne.u32 %p1, %x, 9; @%p1 bra JOIN; add.u32 %at, %b, 5; JOIN:`;
    const far = `mad.lo.u32 %at, %x, 4, %a; setp.ne.u32 %p1, %x, 9; @%p1 bra JOIN; add.u32 %at, %b, 4096; JOIN:`;
    for (const wrong of [body, far]) {
      const { reports } = expectSame({ name: "", before, body: kernel(wrong), block: [16, 2, 1], words: 1 });
      expect(reports).toHaveLength(1);
    }
  });
});
