import { describe, expect, test } from "vitest";
import { withConstantFrame } from "../../src/ir/flow/index.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { SourceText } from "../../src/source/index.ts";
import { expectSame, inWarps } from "./harness.ts";

// Arrays of a thread that hold the same in all threads: compiled code has them once. The interpreter, in which each
// lane has its own, is the reference.

/** Whether the frame of a kernel is found to be the same in all lanes. */
function isConstant(body: string, before = ""): boolean {
  const text = `.version 8.6
.target sm_100a
.address_size 64
${before}
.visible .entry k(.param .u64 out)
{
.reg .b64 %out; .reg .b32 %r<40>, %t; .reg .b64 %d<20>; .reg .pred %p<20>;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
${body}
}`;
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  return withConstantFrame(module.functions.find((f) => f.name === "k")!).frameImage !== undefined;
}

/** Reads the table at a place that follows from the thread, or from what is loaded. */
const read = `and.b32 %r1, %t, 7; mad.wide.u32 %d3, %r1, 4, %d1; ld.local.u32 %r2, [%d3];
ld.global.u32 %r3, [%out+4]; and.b32 %r3, %r3, 7; mad.wide.u32 %d3, %r3, 4, %d1; ld.local.u32 %r4, [%d3];
st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r4; ld.local.u8 %r5, [%d1+5]; st.global.u32 [%out+8], %r5; ret;`;

const declared = ".local .align 16 .b8 table[32]; mov.u64 %d1, table;";
const filled = `${declared}
mov.u32 %r10, 7; st.local.u32 [%d1], %r10; st.local.v2.u32 [table+8], {11, 0x80000001}; st.local.u8 [%d1+5], 200;
st.local.u64 [%d1+16], -2; st.local.u16 [%d1+26], 0xffff; st.local.u32 [%d1], 9;`;

describe("tables that all threads have", () => {
  test.each([
    ["read by thread and by data", filled + read],
    ["never written", declared + read],
    ["written between other instructions", `${declared} st.global.u32 [%out+4], %t; st.local.u32 [%d1+4], 5; ${read}`],
    [
      "two variables",
      `.local .align 4 .b8 other[8]; st.local.u32 [other+4], 77; ${filled}
and.b32 %r6, %t, 1; mov.u64 %d4, other; mad.wide.u32 %d4, %r6, 4, %d4; ld.local.u32 %r7, [%d4];
st.global.u32 [%out+12], %r7; ${read}`,
    ],
    [
      "by a generic address",
      `${filled} cvta.local.u64 %d2, %d1; and.b32 %r6, %t, 7; mad.wide.u32 %d2, %r6, 4, %d2;
ld.u32 %r7, [%d2]; st.global.u32 [%out+12], %r7; ${read}`,
    ],
    [
      "in loops with the same place in all lanes",
      `${filled} mov.u32 %r6, 0; mov.u32 %r8, 0;
MORE: mad.wide.u32 %d3, %r6, 4, %d1; ld.local.u32 %r7, [%d3]; mad.lo.u32 %r8, %r8, 3, %r7; add.u32 %r6, %r6, 1;
setp.lt.u32 %p1, %r6, 8; @%p1 bra MORE; st.global.u32 [%out+12], %r8; ${read}`,
    ],
    ["around a barrier", `${filled} bar.sync 0; ${read}`],
    [
      "that nothing reads in blocks of this size",
      `.local .align 16 .b8 table[32]; st.local.u32 [table+4], 5; mov.u32 %r6, %ntid.x; setp.lt.u32 %p1, %r6, 2000;
@%p1 bra ON; mov.u64 %d1, table; mad.wide.u32 %d2, %t, 4, %d1; ld.local.u32 %r6, [%d2];
st.global.u32 [%out+4], %r6; ON: st.global.u32 [%out], %t; ret;`,
    ],
    [
      "of parameters, before which some threads leave",
      `${declared} setp.gt.u32 %p1, %t, 60; @%p1 bra END; ld.param.u64 %d5, [out]; mov.u64 %d6, %d5;
st.local.v2.u64 [%d1], {%d5, %d6}; st.local.u64 [%d1+16], 5; st.local.u64 [%d1+16], %d6; ld.param.u32 %r6, [out];
st.local.u32 [%d1+28], %r6; and.b32 %r7, %t, 1; mad.wide.u32 %d2, %r7, 8, %d1; ld.local.u64 %d7, [%d2];
sub.s64 %d8, %d7, %d5; add.s64 %d8, %d8, %out; st.global.u32 [%d8+12], %t; ld.local.u64 %d7, [%d1+16];
setp.eq.s64 %p2, %d7, %d5; selp.b32 %r8, 1, 0, %p2; ld.local.u32 %r9, [%d1+28]; sub.u32 %r9, %r9, %r6;
add.u32 %r8, %r8, %r9; st.global.u32 [%out+8], %r8; ld.u32 %r2, [%d5]; END: ret;`,
    ],
  ])("%s", (_name, body) => {
    expect(isConstant(body)).toBe(true);
    for (const block of [
      [32, 1, 1],
      [40, 3, 1],
      [5, 1, 1],
    ] as const) {
      expect(expectSame({ name: "", body, block, grid: [3, 1, 1] }).reports).toEqual([]);
    }
  });

  test("vectors, where lanes interact", () => {
    const body = `${filled} ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [%d1]; add.u32 %r6, %r6, %r8; add.u32 %r7, %r7, %r9;
add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %t; shfl.sync.bfly.b32 %r6, %r6, 3, 31, -1; st.global.u32 [%out+12], %r6; ${read}`;
    expect(isConstant(body)).toBe(true);
    expect(expectSame({ name: "", body, block: [64, 1, 1] }, inWarps).reports).toEqual([]);
  });

  test.each([
    ["beyond the table", "and.b32 %r1, %t, 15; mad.wide.u32 %d3, %r1, 4, %d1; ld.local.u32 %r2, [%d3];"],
    ["before the table", "sub.u32 %r1, 3, %t; mad.wide.s32 %d3, %r1, 4, %d1; ld.local.u32 %r2, [%d3];"],
    ["misaligned", "mad.wide.u32 %d3, %t, 2, %d1; ld.local.u32 %r2, [%d3];"],
    ["the same address in all lanes", "ld.local.u32 %r2, [%d1+64];"],
  ])("reports of a place that is %s", (_name, access) => {
    const body = `${filled} ${access} st.global.u32 [%out], %r2; ret;`;
    expect(isConstant(body)).toBe(true);
    expect(expectSame({ name: "", body, block: [16, 1, 1] }).reports).toHaveLength(1);
  });
});

describe("arrays that threads have for themselves", () => {
  test.each([
    ["a value of the thread", `${filled} st.local.u32 [%d1+4], %t; ${read}`],
    ["a guarded store", `${filled} setp.lt.u32 %p1, %t, 5; @%p1 st.local.u32 [%d1+4], 3; ${read}`],
    ["a store after a branch", `${filled} setp.lt.u32 %p1, %t, 5; @%p1 bra ON; st.local.u32 [%d1+4], 3; ON: ${read}`],
    [
      "a store past which some threads go to a load",
      `${filled} setp.lt.u32 %p1, %t, 5; @%p1 bra ON; st.local.u32 [%d1+4], 3;
ld.local.u32 %r6, [%d1+4]; st.global.u32 [%out+12], %r6; ret; ON: ${read}`,
    ],
    [
      "a parameter that is written over in part",
      `${declared} ld.param.u64 %d5, [out]; st.local.u64 [%d1+8], %d5; st.local.u32 [%d1+12], 3; ${read}`,
    ],
    [
      "a parameter to which the thread's number is added",
      `${declared} ld.param.u64 %d5, [out]; cvt.u64.u32 %d6, %t; add.s64 %d5, %d5, %d6; st.local.u64 [%d1+8], %d5;
sub.s64 %d5, %d5, %d5; ${read}`,
    ],
    [
      "a store in a loop",
      `${declared} mov.u32 %r6, 0;
MORE: st.local.u32 [%d1+8], 3; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %t; @%p1 bra MORE; ${read}`,
    ],
    [
      "a place that the thread chooses",
      `${filled} and.b32 %r6, %t, 7; mad.wide.u32 %d2, %r6, 4, %d1;
st.local.u32 [%d2], 1; ${read}`,
    ],
    [
      "a load before a store",
      `${declared} and.b32 %r6, %t, 7; mad.wide.u32 %d2, %r6, 4, %d1; ld.local.u32 %r7, [%d2];
st.global.u32 [%out+12], %r7; st.local.u32 [%d1+4], 3; ${read}`,
    ],
    [
      "a generic load before a store",
      `${declared} cvta.local.u64 %d4, %d1; ld.u32 %r7, [%d4];
st.global.u32 [%out+12], %r7; st.local.u32 [%d1], 3; ${read}`,
    ],
    ["a generic store", `${filled} cvta.local.u64 %d2, %d1; st.u32 [%d2+4], %t; ${read}`],
    [
      "a register that is written again",
      `${declared} mov.u32 %r6, 4; add.u32 %r6, %r6, %t; st.local.u32 [%d1+4], %r6; ${read}`,
    ],
    [
      "a guarded move",
      `${declared} mov.u32 %r6, 4; setp.lt.u32 %p1, %t, 5; @%p1 mov.u32 %r6, 9;
st.local.u32 [%d1+4], %r6; ${read}`,
    ],
  ])("%s", (_name, body) => {
    expect(isConstant(body)).toBe(false);
    for (const block of [
      [32, 1, 1],
      [40, 3, 1],
    ] as const) {
      expect(expectSame({ name: "", body, block, grid: [2, 1, 1] }).reports).toEqual([]);
    }
  });

  test("a call may write it", () => {
    const before = ".func put(.reg .b64 at, .reg .b32 value) { st.u32 [at], value; ret; }";
    const body = `${filled} cvta.local.u64 %d2, %d1; call put, (%d2, %t); ${read}`;
    expect(isConstant(body, before)).toBe(false);
    expect(expectSame({ name: "", before, body, block: [40, 1, 1] }).reports).toEqual([]);
  });

  test("a store beside the table is reported", () => {
    const body = `${filled} st.local.u32 [%d1+64], 3; ${read}`;
    expect(isConstant(body)).toBe(false);
    expect(expectSame({ name: "", body }).reports).toHaveLength(1);
  });
});
