import { expect, test } from "vitest";
import { warp } from "../../../src/jit/compile/analysis/access/lane-meetings.ts";
import { warpConflictsOf } from "../../../src/jit/compile/analysis/access/warp-conflicts.ts";
import { conflictsInBlocks } from "../../../src/jit/compile/analysis/versions/decided-conflicts.ts";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../../src/runtime/device/device-core.ts";
import { SourceText } from "../../../src/source/index.ts";

// %s1 is table + 4t, %x2 is x + 4t and %x3 is y + 4t, for thread number t of the row.
const begin = `ld.param.u64 %x0, [x]; ld.param.u64 %x1, [y]; ld.param.u32 %s0, [n]; mov.u32 %r0, %tid.x;
shl.b32 %s2, %r0, 2; mov.u32 %s3, table; add.u32 %s1, %s2, %s3; mov.u32 %s4, other; add.u32 %s5, %s2, %s4;
mad.wide.u32 %x2, %r0, 4, %x0; mad.wide.u32 %x3, %r0, 4, %x1;\n`;

function conflicts(body: string, block: Dim3 = [128, 1, 1]) {
  const program = programOf(body);
  return warpConflictsOf(program.functionNamed("k")!.ir, block, program.bindings);
}

function programOf(body: string) {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {
.reg .pred %p<10>; .reg .b32 %r<10>, %s<10>; .reg .b64 %x<10>; .reg .f32 %f<2>;
.shared .align 4 .b8 table[4096];
.shared .align 4 .b8 other[4096];
${begin}${body}
ret;
}`;
  const { module } = compile([new SourceText("k.ptx", text)], {});
  return loadProgram(new DeviceCore().memory, module!);
}

/** Rounds, in each of which threads load from one buffer and store to another, which are told apart by numbers. */
function turns(name: string, first: string, other: string, advance: string, found: string) {
  const body = `mov.u32 %r4, 0; LOOP: mov.u32 %r6, %r4; ${first.replaceAll("%r4", "%r6")}
${other.replaceAll("%r4", "%r6")} mad.lo.u32 %s6, %r6, 512, %s1; ld.shared.u32 %r1, [%s6+4];
mad.lo.u32 %s7, %r5, 512, %s1; st.shared.u32 [%s7], %r1; bar.sync 0; ${advance} bra LOOP;`;
  return [[name, body, found]] as const;
}

test.each([
  ["own words", "st.shared.u32 [%s1], %r0; ld.shared.u32 %r1, [%s1]; st.shared.u32 [%s1], %r1;", "none"],
  ["two variables", "st.shared.u32 [%s1], %r0; ld.shared.u32 %r1, [%s5+4];", "none"],
  ["a neighbour's word", "st.shared.u32 [%s1], %r0; ld.shared.u32 %r1, [%s1+4];", "order"],
  ["a neighbour's word, which is then overwritten", "ld.shared.u32 %r1, [%s1+4]; st.shared.u32 [%s1], %r1;", "order"],
  ["after a barrier", "st.shared.u32 [%s1], %r0; bar.sync 0; ld.shared.u32 %r1, [%s1+4];", "none"],
  ["a word of another warp", "st.shared.u32 [%s1], %r0; ld.shared.u32 %r1, [%s1+128];", "none"],
  ["half of a neighbour's word", "st.shared.u32 [%s1], %r0; ld.shared.u16 %r1, [%s1+126];", "order"],
  ["the same word in all lanes", "st.shared.u32 [table], %r0; ld.shared.u32 %r1, [table];", "order"],
  ["anywhere", "st.shared.u32 [%s1], %r0; ld.shared.u32 %r1, [%s1]; ld.shared.u32 %r2, [%r1];", "order"],
  [
    "words of the next round",
    "LOOP: ld.shared.u32 %r1, [%s1+4]; bar.sync 0; st.shared.u32 [%s1], %r1; bra LOOP;",
    "order",
  ],
  [
    "rounds apart",
    "LOOP: ld.shared.u32 %r1, [%s1+4]; bar.sync 0; st.shared.u32 [%s1], %r1; bar.sync 0; bra LOOP;",
    "none",
  ],
  ["two stores", "st.shared.u32 [%s1], %r0; st.shared.u32 [%s1+8], %r0;", "order"],
  ["two stores to global memory", "st.global.u32 [%x2], %r0; st.global.u32 [%x2+8], %r0;", "none"],
  [
    "two stores to global memory, and one over what is loaded first",
    "ld.global.u32 %r1, [%x3+4]; st.global.u32 [%x2], %r0; st.global.u32 [%x2+8], %r0; st.global.u32 [%x3], %r1; st.global.u32 [%x2+4], %r1;",
    "overwrites",
  ],
  // Compilers use a register for the place of a row, and later for what is added up.
  [
    "places from a register that is written again",
    `mov.u32 %r4, table; add.u32 %r5, %r4, %s2; st.shared.u32 [%r5], %r0; st.shared.u32 [%r5], %s0;
setp.gt.u32 %p0, %r0, %s0; @%p0 bra END; add.u32 %r4, %s0, %s0; END: st.global.u32 [%x2], %r4;`,
    "none",
  ],
  [
    "places from one that has been written again",
    `mov.u32 %r4, table; setp.gt.u32 %p0, %r0, %s0; @%p0 bra END; add.u32 %r4, %r4, 4; END: add.u32 %r5, %r4, %s2;
st.shared.u32 [%r5], %r0; st.shared.u32 [%r5], %s0; st.global.u32 [%x2], %r4;`,
    "order",
  ],
  ["two stores that do not meet in a warp", "st.shared.u32 [%s1], %r0; st.shared.u32 [%s1+128], %r0;", "none"],
  ["global memory that is loaded later", "st.global.u32 [%x2], %r0; ld.global.u32 %r1, [%x2+4];", "order"],
  ["global memory that is overwritten", "ld.global.u32 %r1, [%x2+4]; st.global.u32 [%x2], %r1;", "overwrites"],
  ["two pointers", "st.global.u32 [%x2], %r0; ld.global.u32 %r1, [%x3+4];", "none"],
  [
    "places that depend on floats",
    "mul.f32 %f1, %f0, 0f3DCCCCCD; cvt.rzi.s32.f32 %r1, %f1; add.u32 %r1, %r1, %s1; st.shared.u32 [%r1], %r0; ld.shared.u32 %r2, [%s1];",
    "order",
  ],
  [
    "own words, spread over the banks",
    "shr.u32 %r1, %r0, 5; add.u32 %r2, %r1, %r0; shl.b32 %r3, %r2, 2; add.u32 %r4, %r3, %s3; ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r4], %r5;",
    "none",
  ],
  [
    "a node of a tree, and the one to its left",
    "mul.lo.u32 %r1, %r0, 24; add.u32 %r2, %r1, %s3; ld.shared.u32 %r3, [%r2+12]; ld.shared.u32 %r4, [%r2]; st.shared.u32 [%r2+12], %r4;",
    "none",
  ],
  [
    "the word of the other of a pair",
    "xor.b32 %r1, %r0, 1; shl.b32 %r2, %r1, 2; add.u32 %r3, %r2, %s3; st.shared.u32 [%s1], %r0; ld.shared.u32 %r4, [%r3];",
    "order",
  ],
  [
    "the word of the other of a pair of warps",
    "xor.b32 %r1, %r0, 32; shl.b32 %r2, %r1, 2; add.u32 %r3, %r2, %s3; st.shared.u32 [%s1], %r0; ld.shared.u32 %r4, [%r3];",
    "none",
  ],
  [
    "one word for two lanes",
    "shr.u32 %r1, %r0, 1; shl.b32 %r2, %r1, 2; add.u32 %r3, %r2, %s3; ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r3], %r4;",
    "order",
  ],
  // A halo: the thread's word, and those before and after what the block has of its own.
  [
    "stores of a few threads beside those of all",
    `st.shared.u32 [%s1+32], %r0; setp.gt.u32 %p0, %r0, 7; @%p0 bra END;
st.shared.u32 [%s1], %r0; st.shared.u32 [%s1+544], %r0; END: bar.sync 0; ld.shared.u32 %r1, [%s1+4];`,
    "none",
  ],
  [
    "stores of a few threads too many",
    `st.shared.u32 [%s1+32], %r0; setp.gt.u32 %p0, %r0, 8; @%p0 bra END; st.shared.u32 [%s1], %r0; END: bar.sync 0;`,
    "order",
  ],
  [
    "the same under a guard",
    "st.shared.u32 [%s1+32], %r0; setp.lt.u32 %p0, %r0, 8; @%p0 st.shared.u32 [%s1], %r0;",
    "none",
  ],
  ["or its opposite", "st.shared.u32 [%s1+32], %r0; setp.lt.u32 %p0, %r0, 8; @!%p0 st.shared.u32 [%s1], %r0;", "order"],
  [
    "what depends on more than threads",
    "st.shared.u32 [%s1+32], %r0; setp.lt.u32 %p0, %r0, %s0; @%p0 st.shared.u32 [%s1], %r0;",
    "order",
  ],
  [
    "both sides of a branch, and what follows",
    `setp.lt.u32 %p0, %r0, 8; @%p0 bra FEW; st.shared.u32 [%s1+32], %r0; bra END; FEW: st.shared.u32 [%s1], %r0;
END: ld.shared.u32 %r1, [%s1+4];`,
    "order",
  ],
  [
    "a thread of the second warp",
    "st.shared.u32 [%s1], %r0; setp.eq.u32 %p0, %r0, 40; @%p0 ld.shared.u32 %r1, [%s1+4];",
    "order",
  ],
  [
    "the last thread of a warp",
    "st.shared.u32 [%s1], %r0; setp.eq.u32 %p0, %r0, 63; @%p0 ld.shared.u32 %r1, [%s1+4];",
    "none",
  ],
  [
    "every 128th word, from the thread's on",
    "LOOP: st.shared.u32 [%s1], %r0; ld.shared.u32 %r2, [%s1]; add.u32 %s1, %s1, 512; bra LOOP;",
    "none",
  ],
  [
    "the neighbour's in another round",
    "LOOP: st.shared.u32 [%s1], %r0; ld.shared.u32 %r2, [%s1+516]; add.u32 %s1, %s1, 512; bra LOOP;",
    "order",
  ],
  [
    "every fourth word, from the thread's on",
    "LOOP: st.shared.u32 [%s1], %r0; ld.shared.u32 %r2, [%s1]; add.u32 %s1, %s1, 16; bra LOOP;",
    "order",
  ],
  [
    "records somewhere, and their second words",
    `ld.global.u32 %r1, [%x2]; shl.b32 %r3, %r1, 3; add.u32 %s6, %r3, %s3;
ld.shared.u32 %r2, [%s6]; st.shared.u32 [%s6+4], %r2;`,
    "none",
  ],
  [
    "records somewhere, and any of their words",
    `ld.global.u32 %r1, [%x2]; shl.b32 %r3, %r1, 2; add.u32 %s6, %r3, %s3;
ld.shared.u32 %r2, [%s6]; st.shared.u32 [%s6+4], %r2;`,
    "order",
  ],
  // %r4 counts rounds, in all lanes alike.
  [
    "a word further in each round, in place",
    `mov.u32 %r4, 0; LOOP: shl.b32 %r5, %r4, 2; add.u32 %s6, %s1, %r5; ld.shared.u32 %r1, [%s6]; st.shared.u32 [%s6], %r1;
add.u32 %r4, %r4, 1; bra LOOP;`,
    "order",
  ],
  [
    "the same with a barrier in each round",
    `mov.u32 %r4, 0; LOOP: shl.b32 %r5, %r4, 2; add.u32 %s6, %s1, %r5; ld.shared.u32 %r1, [%s6]; st.shared.u32 [%s6], %r1;
add.u32 %r4, %r4, 1; bar.sync 0; bra LOOP;`,
    "none",
  ],
  [
    "a warp's words further in each round, in place",
    `mov.u32 %r4, 0; LOOP: shl.b32 %r5, %r4, 7; add.u32 %s6, %s1, %r5; ld.shared.u32 %r1, [%s6]; st.shared.u32 [%s6], %r1;
add.u32 %r4, %r4, 1; bra LOOP;`,
    "none",
  ],
  [
    "a word by the number of this round, and one by that of the next",
    `mov.u32 %r4, 0; LOOP: shl.b32 %r5, %r4, 2; add.u32 %s6, %s1, %r5; add.u32 %r4, %r4, 1; shl.b32 %r6, %r4, 2;
add.u32 %s7, %s1, %r6; st.shared.u32 [%s6], %r0; ld.shared.u32 %r1, [%s7]; bar.sync 0; bra LOOP;`,
    "order",
  ],
  [
    "two words by the number of a round that is over",
    `mov.u32 %r4, 0; LOOP: shl.b32 %r5, %r4, 7; add.u32 %s6, %s1, %r5; add.u32 %r4, %r4, 1;
st.shared.u32 [%s6], %r0; ld.shared.u32 %r1, [%s6]; bar.sync 0; bra LOOP;`,
    "none",
  ],
  [
    "a word further in some lanes",
    `mov.u32 %r4, 0; setp.lt.u32 %p0, %r0, %s0; @%p0 bra FAR; mov.u32 %r4, 4; FAR: add.u32 %s6, %s1, %r4;
st.shared.u32 [%s6], %r0; ld.shared.u32 %r1, [%s6];`,
    "order",
  ],
  [
    "a word further in all lanes or none",
    `mov.u32 %r4, 0; setp.lt.u32 %p0, %s0, 7; @%p0 bra FAR; mov.u32 %r4, 4; FAR: add.u32 %s6, %s1, %r4;
st.shared.u32 [%s6], %r0; ld.shared.u32 %r1, [%s6];`,
    "none",
  ],
  // %r4 says whose turn it is among buffers of 512 bytes, of which lanes load their neighbour's words.
  ...turns("the buffer that is not loaded from", "", "xor.b32 %r5, %r4, 1;", "xor.b32 %r4, %r4, 1;", "none"),
  ...turns("the same buffer", "", "mov.u32 %r5, %r4;", "xor.b32 %r4, %r4, 1;", "order"),
  ...turns("one of two by the difference", "", "sub.u32 %r5, 1, %r4;", "sub.u32 %r4, 1, %r4;", "none"),
  ...turns("one of two by a counter", "and.b32 %r4, %r4, 1;", "xor.b32 %r5, %r4, 1;", "add.u32 %r4, %r4, 1;", "none"),
  ...turns(
    "one of three",
    "",
    "add.u32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 3; selp.b32 %r5, 0, %r5, %p1;",
    "mov.u32 %r4, %r5;",
    "none",
  ),
  ...turns("one of any number", "", "add.u32 %r5, %r4, 1;", "mov.u32 %r4, %r5;", "none"),
  ...turns(
    "one of two, exchanged in some rounds, as the launch says",
    "",
    "xor.b32 %r5, %r4, 1;",
    "setp.lt.u32 %p1, %s0, 7; selp.b32 %r4, %r4, %r5, %p1;",
    "none",
  ),
  ...turns(
    "one of two, exchanged in some lanes",
    "",
    "xor.b32 %r5, %r4, 1;",
    "setp.lt.u32 %p1, %r0, 7; @%p1 bra SAME; mov.u32 %r4, %r5; SAME:",
    "order",
  ),
  ...turns(
    "one of two, exchanged under a guard in some lanes",
    "",
    "xor.b32 %r5, %r4, 1;",
    "setp.lt.u32 %p1, %r0, %s0; @%p1 mov.u32 %r4, %r5;",
    "order",
  ),
  [
    "one of two by an offset that is older than the number of the buffer",
    `mov.u32 %r4, 0; LOOP: shl.b32 %s6, %r4, 9; add.u32 %s7, %s6, %s1; ld.shared.u32 %r1, [%s7+4];
xor.b32 %r4, %r4, 1; xor.b32 %s8, %s6, 512; add.u32 %s9, %s8, %s1; st.shared.u32 [%s9], %r1; bar.sync 0; bra LOOP;`,
    "none",
  ],
  [
    "buffers that overlap",
    `mov.u32 %r4, 0; LOOP: mad.lo.u32 %s7, %r4, 508, %s1; ld.shared.u32 %r1, [%s7+4]; xor.b32 %r4, %r4, 1;
mad.lo.u32 %s9, %r4, 508, %s1; st.shared.u32 [%s9+128], %r1; ld.shared.u32 %r2, [%s9+124]; bar.sync 0; bra LOOP;`,
    "order",
  ],
  [
    "two pointers that are exchanged",
    `add.u32 %s6, %s1, 512; LOOP: ld.shared.u32 %r1, [%s1+4]; st.shared.u32 [%s6], %r1; bar.sync 0;
mov.u32 %s7, %s1; mov.u32 %s1, %s6; mov.u32 %s6, %s7; bra LOOP;`,
    "none",
  ],
  [
    "two pointers that are exchanged before the barrier",
    `add.u32 %s6, %s1, 512; LOOP: ld.shared.u32 %r1, [%s1+4]; st.shared.u32 [%s6], %r1;
mov.u32 %s7, %s1; mov.u32 %s1, %s6; mov.u32 %s6, %s7; ld.shared.u32 %r2, [%s1+8]; bar.sync 0; bra LOOP;`,
    "order",
  ],
  [
    "a barrier in all rounds but the last, as two branches say",
    `mov.u32 %r4, 0; LOOP: shl.b32 %s6, %r4, 9; add.u32 %s7, %s6, %s1; ld.shared.u32 %r1, [%s7+4];
setp.lt.u32 %p1, %r1, %s0; setp.lt.u32 %p2, %s0, %r9; @!%p2 bra LAST; xor.b32 %s8, %s6, 512; add.u32 %s9, %s8, %s1;
st.shared.u32 [%s9], %r1; bar.sync 0; LAST: xor.b32 %r4, %r4, 1; @%p2 bra LOOP;`,
    "none",
  ],
  [
    "a barrier that depends on something else than the next round",
    `mov.u32 %r4, 0; LOOP: shl.b32 %s6, %r4, 9; add.u32 %s7, %s6, %s1; ld.shared.u32 %r1, [%s7+4];
setp.lt.u32 %p1, %s0, 7; setp.lt.u32 %p2, %s0, 9; @!%p2 bra LAST; xor.b32 %s8, %s6, 512; add.u32 %s9, %s8, %s1;
st.shared.u32 [%s9], %r1; bar.sync 0; LAST: xor.b32 %r4, %r4, 1; @%p1 bra LOOP;`,
    "order",
  ],
  ["atomic operations", "atom.shared.add.u32 %r1, [table], 1; atom.shared.add.u32 %r1, [table], 1;", "none"],
] as const)("%s", (_, body, found) => {
  expect(conflicts(body)).toBe(found);
});

test("rows of a block meet where the next one's words are", () => {
  // Of a block 16 wide a warp has two rows. Rows are 64 bytes apart.
  const body = `mov.u32 %r1, %tid.y; mad.lo.u32 %s7, %r1, 64, %s1; st.shared.u32 [%s7], %r0; ld.shared.u32 %r2, [%s7+64];`;
  expect(conflicts(body, [16, 16, 1])).toBe("order");
  expect(conflicts(body, [16, 1, 1])).toBe("none");
});

test("numbers of threads in y differ between lanes of a warp that has several rows", () => {
  const body = `mov.u32 %r1, %tid.y; mad.lo.u32 %s7, %r1, 64, %s1; mov.u32 %r4, 0; setp.lt.u32 %p0, %r1, 1;
@%p0 bra FAR; mov.u32 %r4, 60; FAR: add.u32 %s8, %s7, %r4; st.shared.u32 [%s8], %r0; ld.shared.u32 %r2, [%s8];`;
  expect(conflicts(body, [16, 16, 1])).toBe("order");
  expect(conflicts(body, [32, 16, 1])).toBe("none");
});

/**
 * Steps of an elimination in blocks of 16 x 16: in step %r4, threads for which `takesPart` holds read the word of their
 * row in column %r4, that of their column in row %r4, and write their own. `advance`: what follows the barriers.
 */
const elimination = (
  takesPart: string,
  advance = "add.u32 %r4, %r4, 1;",
  again = "setp.lt.u32 %p2, %r4, 15;",
): string =>
  `mov.u32 %r1, %tid.y; mad.lo.u32 %s7, %r1, 68, %s1; mov.u32 %r4, 0;
LOOP: ${takesPart} @!%p1 bra NEXT; mad.lo.u32 %s6, %r4, 4, %s3; mad.lo.u32 %s8, %r1, 68, %s6; ld.shared.u32 %r5, [%s8];
mad.lo.u32 %s9, %r4, 68, %s1; ld.shared.u32 %r6, [%s9]; st.shared.u32 [%s7], %r6; NEXT: bar.sync 0;
${advance} ${again} @%p2 bra LOOP;`;

const isBelowAndRight = "setp.gt.u32 %p3, %r1, %r4; setp.gt.u32 %p4, %r0, %r4; and.pred %p1, %p3, %p4;";

test.each([
  ["below and right of the step", elimination(isBelowAndRight), "none"],
  ["at the step, too", elimination(isBelowAndRight.replace("gt.u32 %p3", "ge.u32 %p3")), "order"],
  ["right of it alone", elimination("setp.gt.u32 %p1, %r0, %r4;"), "order"],
  ["as data says", elimination("setp.gt.u32 %p1, %s0, %r4;"), "order"],
  [
    "below the step before",
    elimination(isBelowAndRight.replaceAll("%r4;", "%r9;"), "mov.u32 %r9, %r4; add.u32 %r4, %r4, 1;"),
    "order",
  ],
  ["without a last step", elimination(isBelowAndRight, "add.u32 %r4, %r4, 1;", "setp.lt.u32 %p2, %r4, %s0;"), "order"],
  [
    "steps that only some rows advance",
    elimination(isBelowAndRight, "setp.gt.u32 %p5, %r1, 3; @%p5 add.u32 %r4, %r4, 1;"),
    "order",
  ],
] as const)("threads that take part in a step: %s", (_, body, found) => {
  expect(conflicts(body, [16, 16, 1])).toBe(found);
});

test("threads that take part in a step, where the end of the loop is written before its beginning", () => {
  const [before, loop] = elimination(isBelowAndRight).split("LOOP:") as [string, string];
  const [body, rest] = loop.split("NEXT: bar.sync 0;") as [string, string];
  const rotated = `${before} bra.uni FIRST; NEXT: bar.sync 0; ${rest.replace("@%p2 bra LOOP;", "@!%p2 bra END;")}
FIRST: ${body} bra.uni NEXT; END:`;
  expect(conflicts(rotated, [16, 16, 1])).toBe("none");
});

test("places that a hash of many rounds gives, each of which uses its value several times", () => {
  const rounds = Array.from({ length: 60 }, (_, i) => {
    const [x, shifted, mixed, odd, next] = [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4].map((n) => `%h${n}`);
    return `shr.u32 ${shifted}, ${x}, 3; xor.b32 ${mixed}, ${x}, ${shifted}; or.b32 ${odd}, ${x}, 5;
      mul.lo.u32 ${next}, ${mixed}, ${odd};`;
  });
  const hash = `.reg .b32 %h<241>; mov.u32 %h0, SEED; ${rounds.join("\n")} and.b32 %r2, %h240, 1020;
    add.u32 %s6, %r2, %s3;`;
  const loads = "st.shared.u32 [%s1], %r0; ld.shared.u32 %r1, [%s6];";
  expect(conflicts(`${hash.replace("SEED", "%r0")} ${loads}`)).toBe("order");
  // All lanes have the same place, and one that another round gives is another.
  expect(conflicts(`${hash.replace("SEED", "%s0")} ld.shared.u32 %r1, [%s6]; st.shared.u32 [%s6], %r1;`)).toBe("order");
});

test.each([
  ["nobody has any left over", 512, "none"],
  ["some have one left over", 500, "order"],
] as const)("rounds by four, of which %s", (_, words, found) => {
  const store = "xor.b32 %r3, %r1, 1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %s3; st.shared.u32 [%r3], %r0;";
  const body = `mov.u32 %r1, %r0; sub.u32 %r2, ${words - 1}, %r0; shr.u32 %r2, %r2, 7; add.u32 %r2, %r2, 1;
and.b32 %r2, %r2, 3; setp.eq.u32 %p0, %r2, 0; @%p0 bra MAIN;
LEFT: ${store} add.u32 %r1, %r1, 128; add.u32 %r2, %r2, -1; setp.ne.u32 %p1, %r2, 0; @%p1 bra LEFT;
MAIN: ${`${store} add.u32 %r1, %r1, 128; `.repeat(4)} setp.lt.u32 %p2, %r1, ${words}; @%p2 bra MAIN; bar.sync 0;`;
  const program = programOf(body);
  const { ir } = program.functionNamed("k")!;
  expect(conflicts(body)).toBe("order");
  expect(conflictsInBlocks(ir, [128, 1, 1], program.bindings, warp, { pays: () => true })).toBe(found);
});
