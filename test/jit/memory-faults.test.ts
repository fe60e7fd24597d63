import { describe, expect, test } from "vitest";
import { expectSameReports, expectSameResults, type PtxCase } from "./both-engines.ts";

const declarations = ".reg .pred %p; .reg .b32 %t, %i, %v, %w; .reg .b64 %a, %b, %c, %d;";

/** A kernel of 32 threads, with the addresses of two buffers in `%b` and `%c` and the thread's number in `%t`. */
const kernelOf = (lines: readonly string[], variables: readonly string[] = []): string =>
  [
    ".version 8.0\n.target sm_80\n.address_size 64",
    ...variables,
    `.visible .entry k(.param .u64 b, .param .u64 c, .param .align 8 .b8 blob[16]) { ${declarations}`,
    "ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; mov.u32 %t, %tid.x;",
    "mad.wide.u32 %a, %t, 4, %b;",
    ...lines,
    "ret; }",
  ].join("\n");

const words = (count: number): Uint8Array => Uint8Array.from({ length: 4 * count }, (_, i) => i * 7);

function caseOf(lines: readonly string[], variables: readonly string[] = [], bytes = 128): PtxCase {
  const buffers = [words(32).slice(0, bytes), words(64)];
  return { text: kernelOf(lines, variables), buffers, blob: new Uint8Array(16), launch: { grid: 1, block: 32 } };
}

const s = [".shared .align 4 .b8 s[64];", ".shared .align 4 .b8 u[64];"];

/** Name, code, instructions, variables, bytes of the first buffer. */
type FaultCase = readonly [string, string, readonly string[], (readonly string[])?, number?];

describe("reports are the interpreter's", () => {
  const cases: readonly FaultCase[] = [
    ["after the end of a buffer", "global-out-of-bounds", ["st.global.u32 [%a+4], %t;"]],
    ["before its beginning", "global-out-of-bounds", ["ld.global.u32 %v, [%a+-8];"]],
    ["across its end", "global-out-of-bounds", ["mad.wide.u32 %a, %t, 8, %b;", "st.global.v2.u32 [%a], {%t, %t};"]],
    [
      "a vector across its end",
      "global-out-of-bounds",
      ["mad.wide.u32 %a, %t, 8, %b;", "ld.global.v2.u32 {%v, %w}, [%a];"],
    ],
    [
      "lane by lane",
      "global-out-of-bounds",
      ["mul.lo.u32 %i, %t, %t;", "mad.wide.u32 %a, %i, 4, %b;", "ld.global.u32 %v, [%a];"],
    ],
    [
      "in the last of four lanes that are next to each other",
      "global-out-of-bounds",
      ["xor.b32 %i, %t, 12;", "add.u32 %i, %i, 1;", "mad.wide.u32 %a, %i, 4, %b;", "ld.global.u32 %v, [%a];"],
    ],
    [
      "in one lane of those of a mask",
      "global-out-of-bounds",
      [
        "rem.u32 %i, %t, 3;",
        "setp.eq.u32 %p, %i, 1;",
        "xor.b32 %i, %t, 3;",
        "mad.wide.u32 %a, %i, 4, %b;",
        "@%p st.global.u32 [%a+16], %t;",
      ],
    ],
    [
      "backwards, below the beginning",
      "global-out-of-bounds",
      ["sub.s32 %i, 20, %t;", "mad.wide.s32 %a, %i, 4, %b;", "ld.global.u32 %v, [%a];"],
    ],
    [
      "an index beyond its 32 bits",
      "global-out-of-bounds",
      ["add.s32 %i, %t, 0x7ffffff0;", "mad.wide.s32 %a, %i, 4, %b;", "ld.global.u32 %v, [%a];"],
    ],
    [
      "an unsigned index below 0",
      "global-out-of-bounds",
      ["sub.u32 %i, %t, 4;", "mad.wide.u32 %a, %i, 4, %b;", "ld.global.u32 %v, [%a];"],
    ],
    ["4 GiB further", "global-out-of-bounds", ["add.s64 %a, %a, 0x100000000;", "ld.global.u32 %v, [%a];"]],
    ["4 GiB before", "global-out-of-bounds", ["sub.s64 %a, %a, 0x100000000;", "st.global.u32 [%a], %t;"]],
    [
      "the end of the address space",
      "global-out-of-bounds",
      ["cvt.u64.u32 %a, %t;", "sub.s64 %a, %a, 32;", "ld.global.u8 %v, [%a];"],
    ],
    ["null", "null-dereference", ["mov.u64 %d, 0;", "ld.global.u32 %v, [%d];"]],
    ["a member of null", "null-dereference", ["cvt.u64.u32 %a, %t;", "ld.u8 %v, [%a+16];"]],
    ["an odd address", "misaligned-access", ["ld.global.u32 %v, [%a+2];"]],
    ["every second address", "misaligned-access", ["mad.wide.u32 %a, %t, 2, %b;", "ld.global.u32 %v, [%a];"]],
    ["a vector's address", "misaligned-access", ["ld.global.v2.u32 {%v, %w}, [%b+4];"]],
    ["a misaligned store", "misaligned-access", ["st.global.u64 [%b+12], %c;"]],
    ["an address of shared memory", "wrong-state-space", ["mov.u64 %a, s;", "ld.global.u32 %v, [%a];"], s],
    [
      "a generic address of shared memory",
      "wrong-state-space",
      ["mov.u64 %a, s;", "cvta.shared.u64 %a, %a;", "ld.shared.u32 %v, [%a];"],
      s,
    ],
    ["a global address as a shared one", "wrong-state-space", ["ld.shared.u32 %v, [%a];"], s],
    [
      "after a shared variable",
      "shared-out-of-bounds",
      ["mov.u64 %d, s;", "mad.wide.u32 %a, %t, 4, %d;", "st.shared.u32 [%a], %t;"],
      s,
    ],
    ["before a shared variable", "shared-out-of-bounds", ["mov.u64 %d, s;", "ld.shared.u32 %v, [%d+-4];"], s],
    [
      "a shared variable of which nothing is there",
      "shared-out-of-bounds",
      ["mov.u64 %d, e;", "ld.shared.u32 %v, [%d];"],
      [".extern .shared .align 4 .b8 e[];"],
    ],
    [
      "after a constant table",
      "const-out-of-bounds",
      ["mov.u64 %d, t;", "mad.wide.u32 %a, %t, 4, %d;", "ld.const.u32 %v, [%a];"],
      [".const .align 4 .b8 t[100];"],
    ],
    [
      "writing to a constant",
      "wrong-state-space",
      ["mov.u64 %d, t;", "cvta.const.u64 %d, %d;", "st.u32 [%d], %t;"],
      [".const .align 4 .b8 t[100];"],
    ],
    [
      "writing to a constant, where lanes have read",
      "wrong-state-space",
      [
        "mov.u64 %d, t;",
        "cvta.const.u64 %c, %d;",
        "mad.wide.u32 %a, %t, 4, %c;",
        "ld.u32 %v, [%a];",
        "st.u32 [%a], %v;",
      ],
      [".const .align 4 .b8 t[256];"],
    ],
    [
      "writing to a constant at an address that may be any, where lanes have read",
      "wrong-state-space",
      [
        ...["mov.u64 %d, t;", "cvta.const.u64 %c, %d;", "xor.b32 %i, %t, 5;", "mad.wide.u32 %a, %i, 4, %c;"],
        ...["ld.u32 %v, [%a];", "st.u32 [%a], %v;"],
      ],
      [".const .align 4 .b8 t[256];"],
    ],
    [
      "writing to a parameter",
      "wrong-state-space",
      ["mov.b64 %d, blob;", "cvta.param.u64 %c, %d;", "st.u32 [%c], %t;"],
    ],
    [
      "after a parameter",
      "param-out-of-bounds",
      ["mov.b64 %d, blob;", "mad.wide.u32 %a, %t, 4, %d;", "ld.param.u32 %v, [%a];"],
    ],
    [
      "after a variable",
      "global-out-of-bounds",
      ["mov.u64 %d, g;", "mad.wide.u32 %a, %t, 4, %d;", "st.global.u32 [%a], %t;"],
      [".global .align 4 .b8 g[120];"],
    ],
    ["an update out of bounds", "global-out-of-bounds", ["atom.global.add.u32 %v, [%a+8], 1;"]],
    ["a misaligned update", "misaligned-access", ["atom.global.add.u64 %d, [%b+4], 1;"]],
    ["an update of nothing", "null-dereference", ["mov.u64 %d, 0;", "red.global.add.u32 [%d], 1;"]],
    ["a buffer of 5 bytes", "global-out-of-bounds", ["ld.global.u32 %v, [%b+4];"], [], 5],
    ["an empty buffer", "global-out-of-bounds", ["ld.global.u8 %v, [%b];"], [], 0],
    [
      "the second of two accesses to a buffer",
      "global-out-of-bounds",
      ["ld.global.u32 %v, [%b];", "ld.global.u32 %v, [%b+128];"],
    ],
    [
      "what only some lanes access",
      "global-out-of-bounds",
      ["setp.gt.u32 %p, %t, 20;", "@%p ld.global.u32 %v, [%a+32];"],
    ],
    ["a guard for all", "global-out-of-bounds", ["setp.gt.u32 %p, 7, 3;", "@%p st.global.u32 [%a+64], %t;"]],
  ];
  test.each(cases.map((c) => [c[0], c] as const))("%s", (_, [, code, lines, variables, bytes]) => {
    const [report, ...others] = expectSameReports(caseOf(lines, variables, bytes));
    expect(report?.code).toBe(code);
    expect(others).toEqual([]);
  });

  test("memory that has been freed", () => {
    const text = kernelOf(["ld.global.u64 %d, [%b];", "ld.global.u32 %v, [%d];"]);
    const [report] = expectSameReports({
      ...caseOf([]),
      text,
      before: (device, [b]) => {
        const freed = device.buffer("u32", 8);
        b!.write(new BigUint64Array([freed.address]));
        freed.free();
      },
    });
    expect(report?.code).toMatch(/use-after-free|global-out-of-bounds/);
  });
});

describe("no faults where lanes that are out of bounds are not active", () => {
  const cases: readonly (readonly [string, readonly string[], (readonly string[])?])[] = [
    [
      "the lane before",
      ["setp.eq.u32 %p, %t, 0;", "@%p bra L;", "ld.global.u32 %v, [%a+-4];", "st.global.u32 [%a], %v;", "L:"],
    ],
    [
      "the lane after",
      ["setp.eq.u32 %p, %t, 31;", "@%p bra L;", "ld.global.u32 %v, [%a+4];", "st.global.u32 [%a], %v;", "L:"],
    ],
    ["stores after", ["setp.ge.u32 %p, %t, 30;", "@%p bra L;", "st.global.u32 [%a+8], %t;", "L:"]],
    [
      "one lane, far away",
      [
        "setp.ne.u32 %p, %t, 3;",
        "mad.wide.u32 %a, %t, 0x10000, %b;",
        "sub.s64 %a, %a, 0x2fff0;",
        "@%p bra L;",
        "st.global.u32 [%a], %t;",
        "L:",
      ],
    ],
    [
      "a shared array",
      [
        "mov.u64 %d, s;",
        "mad.wide.u32 %d, %t, 4, %d;",
        "setp.ge.u32 %p, %t, 16;",
        "@!%p st.shared.u32 [%d], %t;",
        "bar.sync 0;",
        "setp.eq.u32 %p, %t, 0;",
        "@%p bra L;",
        "setp.gt.u32 %p, %t, 16;",
        "@%p bra L;",
        "ld.shared.u32 %v, [%d+-4];",
        "st.global.u32 [%a], %v;",
        "L:",
      ],
      s,
    ],
    [
      "a constant table",
      [
        "mov.u64 %d, t;",
        "mad.wide.u32 %d, %t, 4, %d;",
        "setp.lt.u32 %p, %t, 8;",
        "@%p bra L;",
        "ld.const.u32 %v, [%d+-32];",
        "st.global.u32 [%a], %v;",
        "L:",
      ],
      [".const .align 4 .b8 t[100] = {1, 2, 3};"],
    ],
    [
      "every third lane's own, the others' anywhere",
      [
        "rem.u32 %i, %t, 3;",
        "setp.eq.u32 %p, %i, 1;",
        "xor.b32 %i, %t, 1;",
        "@!%p mul.lo.u32 %i, %i, 0x1234567;",
        "mad.wide.u32 %d, %i, 4, %b;",
        "@%p ld.global.u32 %v, [%d];",
        "@%p add.u32 %v, %v, 5;",
        "@%p st.global.u32 [%d], %v;",
      ],
    ],
    [
      "four lanes next to each other, the first of them below the address space",
      [
        "xor.b32 %i, %t, 4;",
        "cvt.u64.u32 %d, %i;",
        "setp.eq.u32 %p, %t, 9;",
        "mul.lo.u64 %d, %d, 4;",
        "@%p add.s64 %d, %d, %b;",
        "@%p st.global.u32 [%d], %t;",
        "@%p atom.global.add.u32 %v, [%d], 3;",
      ],
    ],
    [
      "of atomic operations",
      [
        "and.b32 %i, %t, 5;",
        "setp.gt.u32 %p, %i, 3;",
        "mad.wide.u32 %d, %i, 4, %b;",
        "@!%p sub.s64 %d, 0, %d;",
        "@%p atom.global.add.u32 %v, [%d], %t;",
        "@%p st.global.u32 [%a], %v;",
      ],
    ],
    ["none of them", ["setp.gt.u32 %p, %t, 99;", "@%p st.global.u32 [%a+4096], %t;", "st.global.u32 [%a], %t;"]],
    [
      "not even at one address",
      ["setp.gt.u32 %p, %t, 99;", "mov.u64 %d, 0;", "@%p ld.global.u32 %v, [%d];", "st.global.u32 [%a], %t;"],
    ],
  ];
  test.each(cases.map((c) => [c[0], c] as const))("%s", (_, [, lines, variables]) => {
    expectSameResults(caseOf(lines, variables));
  });

  test("pointers of one instruction into several buffers", () => {
    const text = kernelOf([
      "and.b32 %i, %t, 3;",
      "setp.gt.u32 %p, %i, 1;",
      "selp.b64 %d, %b, %c, %p;",
      "mad.wide.u32 %d, %i, 4, %d;",
      "ld.global.u32 %v, [%d];",
      "st.global.u32 [%a], %v;",
    ]);
    expectSameResults({ ...caseOf([]), text });
  });

  test("the pointer of one buffer and the distance to another", () => {
    const lines = ["sub.s64 %d, %c, %b;", "add.s64 %d, %a, %d;", "ld.global.u32 %v, [%d];", "st.global.u32 [%a], %v;"];
    expectSameResults(caseOf(lines));
  });
});
