import { expect, test } from "vitest";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import { withDecidedBranches } from "../../../src/jit/compile/analysis/versions/decided-branches.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { SourceText } from "../../../src/source/index.ts";
import { expectSameResults } from "../both-engines.ts";

const moduleOf = (body: string): string => `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .pred %p<9>; .reg .b16 %h<4>; .reg .b32 %r<30>; .reg .b64 %d<9>; .shared .align 4 .b8 s[4096];
  ld.param.u64 %d0, [x]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
  mov.u32 %r9, 0;
  ${body}
  mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.y; mul.lo.u32 %r21, %r21, %r2; mad.lo.u32 %r20, %r20, %r21, %r3;
  mad.wide.u32 %d1, %r20, 4, %d0; st.global.u32 [%d1], %r9;
  ret;
}`;

/** The operations of a kernel without what blocks of one size rule out, with their origins. */
function decided(body: string, block: Dim3 = [64, 4, 1]) {
  const { module, diagnostics } = compile([new SourceText("k.ptx", moduleOf(body))], {});
  expect(diagnostics).toEqual([]);
  const [ir] = module!.functions;
  const bindings = { symbol: () => 0n, window: 0n };
  const found = withDecidedBranches({ ir: ir!, origins: null }, block, bindings);
  const guards = found.ir.instructions.filter(({ guard }) => guard !== null).length;
  return { ir: ir!, found, guards, left: found.ir.instructions.length, all: ir!.instructions.length };
}

const add = "add.u32 %r9, %r9, 7;";

test.each([
  ["all threads pass", `setp.lt.s32 %p0, %r0, 64; @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`],
  ["no thread passes", `setp.gt.s32 %p0, %r1, 3; @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`],
  ["a negated guard passes", `setp.gt.s32 %p0, %r1, 3; @!%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`],
  ["no thread executes an instruction", `setp.eq.s32 %p0, %r2, 65; @%p0 add.u32 %r9, %r9, 1;`],
  [
    "a lane's number decides",
    `mov.u32 %r5, %laneid; setp.gt.u32 %p0, %r5, 31; @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`,
  ],
  ["nobody comes to a barrier", `setp.gt.s32 %p0, %r1, 3; @!%p0 bra A; bar.sync 0; A: add.u32 %r9, %r9, 1;`],
])("where %s, what is ruled out is gone", (_, body) => {
  const { found, guards, left, all } = decided(body);
  expect(guards).toBe(0);
  // A branch without a condition stays, or what it led around.
  expect(all - left).toBe(1);
  expect(found.origins).toHaveLength(left);
});

test("what decides within a condition depends on who comes there", () => {
  const inner = `setp.lt.s32 %p1, %r0, 32; @%p1 bra B; ${add} B: add.u32 %r9, %r9, 1;`;
  expect(decided(`setp.ge.s32 %p0, %r0, 32; @%p0 bra A; ${inner} A: add.u32 %r9, %r9, 2;`).guards).toBe(1);
  expect(decided(`setp.ge.s32 %p0, %r0, 33; @%p0 bra A; ${inner} A: add.u32 %r9, %r9, 2;`).guards).toBe(2);
});

test("registers of 16 bits hold no more", () => {
  const body = `cvt.u16.u32 %h0, %r0; mul.lo.u16 %h1, %h0, 4096; cvt.u32.u16 %r5, %h1; setp.lt.u32 %p0, %r5, 61441;`;
  expect(decided(`${body} @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`).guards).toBe(0);
});

test("what is gone leaves registers that are written once", () => {
  const body = `setp.lt.s32 %p0, %r0, 64; mov.u32 %r5, %r0; @%p0 bra A; mov.u32 %r6, %r9; mov.u32 %r5, %r6;
    A: setp.lt.s32 %p1, %r5, 64; @%p1 bra B; ${add} B: add.u32 %r9, %r9, 1;`;
  expect(decided(body).guards).toBe(0);
});

test.each([
  ["some threads pass", `setp.lt.s32 %p0, %r0, 63; @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`],
  ["data decides", `ld.global.u32 %r5, [%d0]; setp.lt.u32 %p0, %r5, 9; @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`],
  ["the block's number decides", `mov.u32 %r5, %ctaid.x; setp.lt.u32 %p0, %r5, 9; @%p0 ${add}`],
  ["a multiprocessor's number decides", `mov.u32 %r5, %smid; setp.lt.u32 %p0, %r5, 32; @%p0 ${add}`],
  ["a condition is written twice", `setp.lt.s32 %p0, %r0, 63; @%p0 setp.lt.s32 %p0, %r0, 5; @%p0 ${add}`],
  [
    "a counter goes on",
    `mov.u32 %r5, 0; A: setp.gt.u32 %p0, %r5, 70; @%p0 bra B; add.u32 %r5, %r5, %r2; ${add} bra A; B:`,
  ],
])("a kernel stays as it is where %s", (_, body) => {
  const { ir, found } = decided(body);
  expect(found.ir).toBe(ir);
});

test("a condition that is written twice is each time what it is then", () => {
  const body = `setp.lt.s32 %p0, %r0, 64; @%p0 setp.lt.s32 %p0, %r0, 5; @%p0 ${add}`;
  expect(decided(body).guards).toBe(1);
});

test("code is for blocks of one size, and keeps the origins that it has", () => {
  const body = `setp.gt.s32 %p0, %r0, 63; @%p0 bra A; ${add} A: add.u32 %r9, %r9, 1;`;
  expect(decided(body, [65, 1, 1]).guards).toBe(1);
  const { ir, found } = decided(body);
  const bindings = { symbol: () => 0n, window: 0n };
  const origins = ir.instructions.map((_, i) => i + 7);
  const moved = withDecidedBranches({ ir, origins }, [64, 4, 1], bindings);
  expect(moved.origins).toEqual(found.origins!.map((i) => i + 7));
});

/** Threads load a tile of 200 words as nvcc writes it: what is left over of four rounds first, in turn. */
const tile = (step: number): string => `mov.u32 %r10, s; max.s32 %r4, %r3, ${200 - step}; add.s32 %r5, %r4, ${step - 1};
  setp.gt.s32 %p0, %r3, 199; @%p0 bra D;
  sub.s32 %r5, %r5, %r3; div.u32 %r6, %r5, ${step}; add.s32 %r7, %r6, 1; and.b32 %r8, %r7, 3; mov.u32 %r11, %r3;
  setp.eq.s32 %p1, %r8, 0; @%p1 bra F;
  N: mad.wide.u32 %d2, %r11, 4, %d3; ld.global.u32 %r12, [%d2]; mad.lo.u32 %r13, %r11, 4, %r10; st.shared.u32 [%r13], %r12;
  add.s32 %r11, %r11, ${step}; add.s32 %r8, %r8, -1; setp.ne.s32 %p2, %r8, 0; @%p2 bra N;
  F: setp.lt.u32 %p3, %r6, 3; @%p3 bra D;
  M: ${Array.from(
    { length: 4 },
    () => `mad.wide.u32 %d2, %r11, 4, %d3; ld.global.u32 %r12, [%d2]; mad.lo.u32 %r13, %r11, 4, %r10;
      st.shared.u32 [%r13], %r12; add.s32 %r11, %r11, ${step};`,
  ).join("\n")}
  setp.lt.s32 %p4, %r11, 200; @%p4 bra M;
  D: bar.sync 0; rem.u32 %r14, %r3, 100; mad.lo.u32 %r13, %r14, 8, %r10; ld.shared.u32 %r9, [%r13]; ld.shared.u32 %r15, [%r13+4];
  mad.lo.u32 %r9, %r9, 3, %r15;`;

test.each([
  [128, 128],
  [[32, 4], 128],
  [64, 64],
  [[8, 5], 40],
  [25, 25],
  [256, 256],
] as const)("tiles are loaded whole by blocks of %j", (block, threads) => {
  const words = new Uint32Array(200).map((_, i) => i * i + 5);
  const text = moduleOf(`ld.param.u64 %d3, [y]; ${tile(threads)}`);
  const buffers = [new Uint8Array(4 * 20 * threads), new Uint8Array(words.buffer)];
  const [out] = expectSameResults({ text, buffers, launch: { grid: 20, block } });
  const got = new Uint32Array(out!.buffer, out!.byteOffset, 20 * threads);
  const want = got.map((_, i) => 3 * words[2 * ((i % threads) % 100)]! + words[2 * ((i % threads) % 100) + 1]!);
  expect(got).toEqual(want);
});

/** Loops over 4096 words, four of them a thread and round, as nvcc writes them: rounds that are left over come first. */
const unrolled = (first: string, between = ""): string => `${first} max.s32 %r10, %r5, 3584; add.s32 %r11, %r10, 511;
  sub.s32 %r12, %r11, %r5; shr.u32 %r13, %r12, 9; add.s32 %r13, %r13, 1; and.b32 %r14, %r13, 3;
  setp.eq.s32 %p0, %r14, 0; ${between} @%p0 bra A;
  REST: add.u32 %r9, %r9, %r5; add.s32 %r5, %r5, 512; add.s32 %r14, %r14, -1; setp.ne.s32 %p1, %r14, 0; @%p1 bra REST;
  A: setp.lt.u32 %p2, %r12, 1536; @%p2 bra END; add.s32 %r15, %r5, -2048;
  FOUR: mad.lo.u32 %r9, %r9, 3, %r15; add.s32 %r15, %r15, 2048; setp.lt.s32 %p3, %r15, 2048; @%p3 bra FOUR; END:`;

test("what a counter is before its loop decides whether there are rounds that are left over", () => {
  // What leads around them, and the loop over four rounds at once.
  expect(decided(unrolled("shl.b32 %r5, %r0, 2;"), [128, 1, 1]).guards).toBe(1);
  // In larger blocks some threads have a round less.
  expect(decided(unrolled("shl.b32 %r5, %r0, 2;"), [256, 1, 1]).guards).toBeGreaterThan(1);
  // Somebody else may have written the counter before.
  const other =
    "shl.b32 %r5, %r0, 2; ld.global.u32 %r16, [%d0]; setp.lt.s32 %p4, %r16, 1; @%p4 bra ON; add.s32 %r5, %r5, 4; ON:";
  expect(decided(unrolled(other), [128, 1, 1]).guards).toBeGreaterThan(2);
});

test.each([
  [128, 1],
  [256, 1],
  [100, 1],
  [32, 4],
] as const)("loops over as many words as all threads of %i x %i or some take", (...block) => {
  for (const first of ["shl.b32 %r5, %r0, 2;", "shl.b32 %r5, %r0, 4;", "mul.lo.u32 %r5, %r0, 12;"]) {
    const size = 4 * 3 * block[0] * block[1];
    expectSameResults({
      text: moduleOf(unrolled(first)),
      buffers: [new Uint8Array(size), new Uint8Array(4)],
      launch: { grid: 3, block },
    });
  }
});
