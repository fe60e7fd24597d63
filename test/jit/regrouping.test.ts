import { expect, test } from "vitest";
import { type Buffer, Device, type LaunchResult } from "../../src/index.ts";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { warpConflictsOf } from "../../src/jit/compile/analysis/access/warp-conflicts.ts";
import { AloneKernels } from "../../src/jit/run/alone-kernels.ts";
import { Regrouping } from "../../src/jit/run/regrouping.ts";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { SourceText } from "../../src/source/index.ts";

/*
 * Launches whose threads run in other blocks than were asked for: nobody can tell but by the clock.
 */

/** Numbers of threads of the whole grid, in three directions. */
const indices = `
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %x, %r2, %r3, %r1;
mov.u32 %r4, %tid.y; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.y; mad.lo.s32 %y, %r5, %r6, %r4;
mov.u32 %r7, %tid.z; mov.u32 %r8, %ctaid.z; mov.u32 %r9, %ntid.z; mad.lo.s32 %z, %r8, %r9, %r7;
mov.u32 %r10, %nctaid.x; mul.lo.u32 %width, %r10, %r3;
mov.u32 %r11, %nctaid.y; mul.lo.u32 %height, %r11, %r6;
`;

/** Each thread writes a word of its own, and `body` may change what; `stored`: the register with which one it is. */
const kernel = (body: string, before = "", numbers = indices, stored = "%at"): string => `.version 8.0
.target sm_80
.address_size 64
${before}
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<30>, %x, %y, %z, %width, %height, %at, %value;
.reg .b64 %d<10>, %out, %dst;
.reg .pred %p<4>;
ld.param.u64 %out, [out];
${numbers}
mad.lo.s32 %at, %z, %height, %y;
mad.lo.s32 %at, %at, %width, %x;
mul.lo.u32 %value, %at, 2654435761;
${body}
mad.wide.u32 %dst, ${stored}, 4, %out;
st.global.u32 [%dst], %value;
ret;
}`;

const loop = `mov.u32 %r20, 0;
again: mad.lo.s32 %value, %value, 5, %r20; add.u32 %r20, %r20, 1; and.b32 %r21, %x, 7;
setp.lt.u32 %p1, %r20, %r21; @%p1 bra again;`;

interface Launched {
  readonly result: LaunchResult;
  readonly words: Uint32Array;
}

function run(text: string, grid: Dim3, block: Dim3, engine: "jit" | "interpreter", bytes?: number): Launched {
  const device = new Device();
  const threads = [...grid, ...block].reduce((a, b) => a * b);
  const out: Buffer = device.buffer("u8", bytes ?? 4 * threads);
  const module = device.load({ path: "k.ptx", text });
  const result = module.kernel("k").launch({ grid, block, args: [out], engine });
  const read = out.read() as Uint8Array;
  return { result, words: new Uint32Array(read.buffer, read.byteOffset, read.length >> 2) };
}

/** The blocks in which the threads of a launch run. */
function blocksFor(text: string, grid: Dim3, block: Dim3, sharedBytes = 0): Dim3 {
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const program = loadProgram(new DeviceMemory(), module!);
  const alone = new AloneKernels(program, new CompiledFunctions(program), (ir, b) =>
    warpConflictsOf(ir, b, program.bindings),
  );
  const regrouping = new Regrouping((name, b) => alone.threadsIn(name, b));
  return regrouping.blocksFor({ kernel: "k", grid, block, sharedBytes, params: new Uint8Array(8) })?.block ?? block;
}

/** Columns of the grid lie one after the other in memory. */
const column = "mad.lo.s32 %r22, %z, %width, %x; mad.lo.s32 %r23, %r22, %height, %y;";
const columns = (body: string): string => kernel(body + column, "", indices, "%r23");

const fixedSize = `mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 3; or.b32 %x, %r3, %r1;
mov.u32 %r4, %tid.y; mov.u32 %r5, %ctaid.y; shl.b32 %r6, %r5, 2; add.u32 %y, %r6, %r4;
mov.u32 %z, 0; mov.u32 %r10, %nctaid.x; shl.b32 %width, %r10, 3; mov.u32 %height, 0;`;

/** The word of a neighbour, or of the thread itself at the border. */
const clamped = kernel(
  `sub.s32 %r24, %x, 1; max.s32 %r26, %r24, 0; mul.wide.u32 %d1, %r26, 4; mov.u64 %d2, table; add.u64 %d2, %d2, %d1;
ld.global.u32 %r25, [%d2]; add.u32 %value, %value, %r25;`,
  ".global .u32 table[256] = { 7, 8, 9 };",
);

test.each<[string, { text: string; grid: Dim3; block: Dim3; runs: Dim3 }]>([
  ["small squares", { text: kernel(""), grid: [8, 6, 1], block: [8, 8, 1], runs: [32, 8, 1] }],
  ["a loop", { text: kernel(loop), grid: [8, 6, 1], block: [4, 4, 1], runs: [32, 4, 1] }],
  ["cubes", { text: kernel(loop), grid: [4, 4, 4], block: [8, 8, 8], runs: [32, 4, 8] }],
  ["columns", { text: kernel(""), grid: [64, 2, 1], block: [1, 64, 1], runs: [32, 32, 1] }],
  ["short rows", { text: kernel(loop), grid: [64, 1, 1], block: [16, 1, 1], runs: [256, 1, 1] }],
  ["widths that fill no chunks", { text: kernel(loop), grid: [26, 26, 1], block: [10, 10, 1], runs: [260, 1, 1] }],
  ["a size in the code", { text: kernel("", "", fixedSize), grid: [8, 8, 1], block: [8, 4, 1], runs: [32, 4, 1] }],
  ["wide rows already", { text: kernel(""), grid: [8, 2, 1], block: [128, 1, 1], runs: [128, 1, 1] }],
  ["nothing that divides", { text: kernel(""), grid: [31, 1, 1], block: [1, 1, 1], runs: [1, 1, 1] }],
  ["columns of words", { text: columns(""), grid: [8, 12, 1], block: [16, 8, 1], runs: [96, 8, 1] }],
  ["columns in a loop", { text: columns(loop), grid: [3, 2, 2], block: [8, 20, 3], runs: [20, 8, 3] }],
  ["wide rows of columns", { text: columns(""), grid: [2, 64, 1], block: [128, 1, 1], runs: [64, 16, 1] }],
  ["few columns", { text: columns(""), grid: [2, 16, 1], block: [256, 1, 1], runs: [256, 1, 1] }],
  ["clamped neighbours", { text: clamped, grid: [8, 4, 1], block: [16, 8, 1], runs: [32, 8, 1] }],
  ["clamped neighbours that fill no warps", { text: clamped, grid: [5, 4, 1], block: [16, 8, 1], runs: [16, 8, 1] }],
  ["clamped neighbours in few blocks", { text: clamped, grid: [5, 3, 1], block: [16, 8, 1], runs: [80, 1, 1] }],
])("%s: the same in other blocks", (_, { text, grid, block, runs }) => {
  expect(blocksFor(text, grid, block)).toEqual(runs);
  const compiled = run(text, grid, block, "jit");
  expect(compiled.result).toMatchObject({ ok: true, engine: "jit" });
  expect(compiled.words).toEqual(run(text, grid, block, "interpreter").words);
});

test("a size in the code that is not the launch's", () => {
  const text = kernel("", "", fixedSize);
  expect(blocksFor(text, [8, 8, 1], [8, 8, 1])).toEqual([8, 8, 1]);
  expect(run(text, [8, 4, 1], [8, 8, 1], "jit").words).toEqual(run(text, [8, 4, 1], [8, 8, 1], "interpreter").words);
});

test.each([
  ["a barrier", "bar.sync 0;", ""],
  ["shared memory", "st.shared.u32 [s], %value;", ".shared .u32 s;"],
  ["the address of shared memory", "mov.u64 %d1, s; cvt.u32.u64 %value, %d1;", ".shared .u32 s;"],
  ["a shuffle", "shfl.sync.idx.b32 %value, %value, 0, 31, -1;", ""],
  ["the lane", "mov.u32 %value, %laneid;", ""],
  ["the warp", "mov.u32 %value, %warpid;", ""],
  ["the thread of a block", "add.u32 %value, %value, %r1;", ""],
  ["the clock", "mov.u32 %value, %clock;", ""],
  ["the order of atomic operations", "atom.global.add.u32 %value, [%out], 1;", ""],
  ["a volatile access", "ld.volatile.global.u32 %value, [%out];", ""],
  [
    "a word that another lane has stored",
    "mad.wide.u32 %d1, %at, 4, %out; st.global.u32 [%d1], %at; ld.global.u32 %value, [%d1+4];",
    "",
  ],
])("%s keeps the blocks", (_, body, before) => {
  expect(blocksFor(kernel(body, before), [8, 8, 1], [8, 8, 1])).toEqual([8, 8, 1]);
});

test("dynamic shared memory keeps the blocks", () => {
  expect(blocksFor(kernel(""), [8, 8, 1], [8, 8, 1], 64)).toEqual([8, 8, 1]);
});

const storeInColumn = `${column} mad.wide.u32 %d1, %r23, 4, %out; st.global.u32 [%d1], %value;`;

// Above a mebibyte nobody repeats the launch in the interpreter to find the first fault.
test.each([
  ["a small device", 4 * 64 * 64, ""],
  ["a large device", 2 ** 22, ""],
  ["a small device, by columns", 4 * 64 * 64, storeInColumn],
  ["a large device, by columns", 2 ** 22, storeInColumn],
])("a fault is reported where the thread was asked for: %s", (_, bytes, before) => {
  const wrong = `${before}
setp.eq.u32 %p1, %x, 37; setp.eq.and.u32 %p1, %y, 21, %p1; @%p1 mov.u32 %at, 0x7fffffff;`;
  const text = kernel(wrong);
  const [jit, reference] = (["jit", "interpreter"] as const).map(
    (engine) => run(text, [8, 8, 1], [8, 8, 1], engine, bytes).result,
  );
  const [report] = jit!.reports;
  expect(report!.threads).toEqual([{ block: [4, 2, 0], thread: [5, 5, 0] }]);
  expect(jit!.reports).toEqual(reference!.reports);
});

test("how far a launch is counts the blocks that were asked for", () => {
  const device = new Device();
  const out = device.buffer("u32", 1 << 18);
  const seen: { blocksDone: number; blocks: number }[] = [];
  const module = device.load({ path: "k.ptx", text: kernel(loop) });
  const launched = module
    .kernel("k")
    .launch({ grid: [64, 64], block: [8, 8], args: [out], onProgress: (p) => void seen.push(p) });
  expect(launched.ok).toBe(true);
  for (const { blocks, blocksDone } of seen) {
    expect(blocks).toBe(4096);
    expect(blocksDone).toBeLessThanOrEqual(4096);
  }
});
