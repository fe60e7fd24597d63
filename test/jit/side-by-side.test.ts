import { expect, test } from "vitest";
import { Device, type LaunchResult } from "../../src/index.ts";
import { Compiler } from "../../src/jit/run/compiler.ts";
import { Regrouping } from "../../src/jit/run/regrouping.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { SourceText } from "../../src/source/index.ts";

/*
 * Blocks of few threads that lie side by side in larger ones: nobody can tell but by the clock.
 */

/** Each thread writes a word of its own: %value, which `body` computes. Thread numbers are those within the block. */
const kernel = (body: string, variables = ".shared .align 16 .u32 s[64];", before = ""): string => `.version 8.0
.target sm_80
.address_size 64
.global .u32 table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
${before}
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<40>, %x, %y, %t, %cx, %cy, %gx, %at, %value, %mine, %other;
.reg .b64 %d<10>, %out, %dst;
.reg .pred %p<6>;
${variables}
ld.param.u64 %out, [out];
mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %r1, %ntid.x; mad.lo.u32 %t, %y, %r1, %x;
mov.u32 %cx, %ctaid.x; mov.u32 %cy, %ctaid.y; mov.u32 %gx, %nctaid.x;
mad.lo.u32 %r2, %cy, %gx, %cx; mov.u32 %r3, %ntid.y; mul.lo.u32 %r3, %r3, %r1; mad.lo.u32 %at, %r2, %r3, %t;
mul.lo.u32 %value, %at, 2654435761; add.u32 %value, %value, 12345;
shl.b32 %r4, %t, 2; mov.u32 %r5, s; add.u32 %mine, %r5, %r4; xor.b32 %r6, %t, 1; shl.b32 %r6, %r6, 2;
add.u32 %other, %r5, %r6;
${body}
mul.wide.u32 %dst, %at, 4; add.s64 %dst, %out, %dst;
st.global.u32 [%dst], %value;
ret;
}`;

/** Threads find what their neighbours have written. */
const exchange = `st.shared.u32 [%mine], %value; bar.sync 0;
ld.shared.u32 %r10, [%other]; mad.lo.u32 %value, %value, 3, %r10; bar.sync 0;`;

const loop = (count: string, body: string): string => `mov.u32 %r20, 0;
again: ${body} add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, ${count}; @%p1 bra again;`;

interface Asked {
  readonly text: string;
  readonly grid: Dim3;
  readonly block: Dim3;
}

interface Launched {
  readonly result: LaunchResult;
  readonly words: Uint32Array;
}

function run({ text, grid, block }: Asked, engine: "jit" | "interpreter", bytes = 0, hostThreads = 1): Launched {
  const device = new Device();
  const threads = [...grid, ...block].reduce((a, b) => a * b);
  const out = device.buffer("u8", Math.max(bytes, 4 * threads));
  const entry = device.load({ path: "k.ptx", text }).kernel("k");
  const result = entry.launch({ grid, block, args: [out], engine, hostThreads });
  const read = out.read() as Uint8Array;
  return { result, words: new Uint32Array(read.buffer, read.byteOffset, threads) };
}

/** The blocks in which a launch runs. */
function blocksFor({ text, grid, block }: Asked, sharedBytes = 0): Dim3 {
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const program = loadProgram(new DeviceMemory(), module!);
  const compiler = new Compiler(program, null, () => 0);
  const regrouping = new Regrouping((name, b) => compiler.threadsIn(name, b));
  return regrouping.blocksFor({ kernel: "k", grid, block, sharedBytes, params: new Uint8Array(8) })?.block ?? block;
}

const even = "and.b32 %r21, %cx, 1; setp.eq.u32 %p2, %r21, 0;";

test.each<[string, Asked & { readonly runs: Dim3 }]>([
  ["rows of four", { text: kernel(exchange), grid: [12, 3, 1], block: [4, 1, 1], runs: [4, 4, 1] }],
  ["columns of four", { text: kernel(exchange), grid: [8, 3, 1], block: [1, 4, 1], runs: [1, 4, 4] }],
  ["squares of four", { text: kernel(exchange), grid: [8, 3, 1], block: [2, 2, 1], runs: [2, 2, 4] }],
  ["rows of eight", { text: kernel(exchange), grid: [8, 3, 1], block: [8, 1, 1], runs: [8, 2, 1] }],
  ["rows of six", { text: kernel(exchange), grid: [8, 3, 1], block: [6, 1, 1], runs: [6, 2, 1] }],
  ["rows of two", { text: kernel(exchange), grid: [16, 1, 3], block: [2, 1, 1], runs: [2, 8, 1] }],
  [
    "single threads",
    { text: kernel("add.u32 %value, %value, %cx;"), grid: [32, 2, 1], block: [1, 1, 1], runs: [16, 1, 1] },
  ],
  ["grids of six", { text: kernel(exchange), grid: [6, 5, 1], block: [4, 1, 1], runs: [4, 2, 1] }],
  ["grids of seven", { text: kernel(exchange), grid: [7, 5, 1], block: [4, 1, 1], runs: [4, 1, 1] }],
  [
    "a loop around a barrier",
    { text: kernel(loop("5", exchange)), grid: [8, 3, 1], block: [4, 1, 1], runs: [4, 4, 1] },
  ],
  [
    "a loop that the grid counts",
    { text: kernel(loop("%gx", exchange)), grid: [8, 2, 1], block: [4, 1, 1], runs: [4, 4, 1] },
  ],
  [
    "what blocks do by their number",
    {
      text: kernel(`${even} @%p2 bra on; ${loop("%cx", "mad.lo.u32 %value, %value, 5, %r20;")} on: ${exchange}`),
      grid: [8, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
  [
    "memory that nobody has written",
    {
      text: kernel(
        `ld.shared.u32 %r10, [%mine]; ld.shared.u32 %r11, [s+252]; add.u32 %value, %value, %r10; add.u32 %value, %value, %r11;
bar.sync 0; ${exchange} st.shared.u32 [%mine+240], %value;`,
      ),
      grid: [16, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
  [
    "other variables between",
    {
      text: kernel(exchange, "", ".shared .u8 a; .shared .align 4 .u32 s[16]; .shared .align 8 .u64 b[9];"),
      grid: [8, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
  [
    "addresses of 64 bits",
    {
      text: kernel(`mov.u64 %d1, s; mul.wide.u32 %d2, %t, 16; add.s64 %d3, %d1, %d2;
st.shared.v2.u32 [%d3+8], {%value, %at}; bar.sync 0; ld.shared.v2.u32 {%r10, %r11}, [s+24]; add.u32 %value, %r10, %r11;`),
      grid: [8, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
  [
    "numbers of lanes",
    {
      text: kernel(
        `${exchange} mov.u32 %r11, %laneid; mad.lo.u32 %value, %value, 3, %r11; mov.u32 %r12, %lanemask_lt; xor.b32 %value, %value, %r12;`,
      ),
      grid: [8, 2, 1],
      block: [2, 3, 1],
      runs: [2, 3, 2],
    },
  ],
  [
    "bytes",
    {
      text: kernel(`add.u32 %r11, %r5, %t; st.shared.u8 [%r11], %value; bar.sync 0; sub.u32 %r12, 3, %t; add.u32 %r12, %r12, %r5;
ld.shared.u8 %r10, [%r12]; mad.lo.u32 %value, %value, 3, %r10;`),
      grid: [8, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
  [
    "arrays of threads",
    {
      text: kernel(
        `${exchange} mov.u32 %r12, l; st.local.u32 [l], %value; st.local.u32 [l+4], %cx; st.local.u32 [l+8], %t; st.local.u32 [l+12], %at;
and.b32 %r13, %value, 3; shl.b32 %r13, %r13, 2; add.u32 %r12, %r12, %r13; ld.local.u32 %value, [%r12];`,
        ".shared .align 16 .u32 s[64]; .local .align 4 .b8 l[16];",
      ),
      grid: [8, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
  [
    "tables in global memory",
    {
      text: kernel(`${exchange} and.b32 %r11, %value, 7; mul.wide.u32 %d1, %r11, 4; mov.u64 %d2, table; add.s64 %d2, %d2, %d1;
ld.global.u32 %r12, [%d2]; add.u32 %value, %value, %r12; ${exchange}`),
      grid: [8, 2, 1],
      block: [4, 1, 1],
      runs: [4, 4, 1],
    },
  ],
])("%s: the same side by side", (_, { runs, ...asked }) => {
  expect(blocksFor(asked)).toEqual(runs);
  const reference = run(asked, "interpreter");
  expect(reference.result).toMatchObject({ ok: true });
  for (const [bytes, hostThreads] of [
    [0, 1],
    [2 ** 21, 1],
    [0, 2],
  ] as const) {
    const compiled = run(asked, "jit", bytes, hostThreads);
    expect(compiled.result).toMatchObject({ ok: true, engine: "jit" });
    expect(compiled.words).toEqual(reference.words);
  }
});

test.each<[string, string, { block?: Dim3; variables?: string; before?: string }?]>([
  ["as many barriers as the block's number says", loop("%cx", exchange)],
  ["barriers that some blocks do not come to", `${even} @%p2 bra on; ${exchange} on: ${exchange}`],
  ["threads that end before a barrier", `setp.ge.u32 %p2, %t, 3; @%p2 ret; ${exchange}`],
  [
    "places that data says",
    "and.b32 %r11, %value, 3; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r5; ld.shared.u32 %value, [%r11];",
  ],
  [
    "places that the block's number says",
    "and.b32 %r11, %cx, 3; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r5; st.shared.u32 [%r11], 7; ld.shared.u32 %value, [s];",
  ],
  ["a place that is stored", `${exchange} add.u32 %value, %value, %mine;`],
  ["a place that is compared", `${exchange} setp.gt.u32 %p3, %mine, 16777224; @%p3 add.u32 %value, %value, 1;`],
  [
    "a place that is a number",
    `${exchange} mov.u32 %r12, 16777216; ld.shared.u32 %r11, [%r12]; add.u32 %value, %value, %r11;`,
  ],
  ["a place outside the variable", `${exchange} ld.shared.u32 %r11, [%mine+252]; add.u32 %value, %value, %r11;`],
  ["a place that is not aligned", `${exchange} ld.shared.u32 %r11, [%mine+2]; add.u32 %value, %value, %r11;`],
  ["twice a place", "add.u32 %r11, %mine, %mine; sub.u32 %r11, %r11, 0x3080000; st.shared.u32 [%r11], %value;"],
  ["a generic address", "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; st.u32 [%d1], %value; ld.shared.u32 %value, [s];"],
  ["atomic operations in shared memory", "atom.shared.add.u32 %value, [%mine], 1;"],
  ["a volatile access", "st.volatile.shared.u32 [%mine], %value;"],
  ["the order of atomic operations", `${exchange} atom.global.add.u32 %value, [table], 1;`],
  ["another barrier", "st.shared.u32 [%mine], %value; bar.sync 1; ld.shared.u32 %value, [%other];"],
  ["a barrier of some", "st.shared.u32 [%mine], %value; bar.sync 0, 32; ld.shared.u32 %value, [%other];"],
  ["a vote at a barrier", "setp.gt.u32 %p3, %value, 99; bar.red.popc.u32 %r11, 0, %p3; add.u32 %value, %value, %r11;"],
  ["a shuffle", `${exchange} shfl.sync.idx.b32 %value, %value, 0, 31, -1;`],
  ["the clock", `${exchange} mov.u32 %r11, %clock; setp.eq.u32 %p3, %r11, -1; @%p3 add.u32 %value, %value, %r11;`],
  ["the warp", `${exchange} mov.u32 %r11, %nwarpid; add.u32 %value, %value, %r11;`],
  ["a fence", `${exchange} membar.gl;`],
  ["layers", exchange, { block: [2, 2, 2] }],
  ["many threads", exchange, { block: [16, 1, 1] }],
  ["much shared memory", exchange, { variables: ".shared .align 16 .u32 s[4096];" }],
  ["memory of the launch", exchange, { variables: "", before: ".extern .shared .align 16 .u32 s[];" }],
])("%s keeps the blocks", (_, body, { block = [4, 1, 1] as Dim3, variables, before } = {}) => {
  const asked: Asked = { text: kernel(body, variables, before), grid: [8, 2, 1], block };
  expect(blocksFor(asked)).toEqual(block);
  if (before !== undefined) return;
  const [compiled, reference] = (["jit", "interpreter"] as const).map((engine) => run(asked, engine));
  expect(compiled!.result.reports).toEqual(reference!.result.reports);
  expect(compiled!.words).toEqual(reference!.words);
});

test("memory of the launch that nothing names keeps the blocks", () => {
  expect(blocksFor({ text: kernel(exchange), grid: [8, 2, 1], block: [4, 1, 1] }, 64)).toEqual([4, 1, 1]);
});

test("a module with memory of the launch that the kernel does not name", () => {
  const asked: Asked = {
    text: kernel(exchange, undefined, ".extern .shared .u32 more[];"),
    grid: [8, 2, 1],
    block: [4, 1, 1],
  };
  expect(blocksFor(asked)).toEqual([4, 4, 1]);
  expect(run(asked, "jit").words).toEqual(run(asked, "interpreter").words);
});

test.each<[string, Dim3, number]>([
  ["a small device", [4, 1, 1], 0],
  ["a large device", [4, 1, 1], 2 ** 22],
  ["single threads of a large device", [1, 1, 1], 2 ** 22],
])("a fault is reported where the thread was asked for: %s", (_, block, bytes) => {
  const wrong = `setp.eq.u32 %p3, %cx, 13; setp.eq.and.u32 %p3, %cy, 1, %p3; setp.eq.and.u32 %p3, %x, ${block[0] >> 1}, %p3;
@%p3 mov.u32 %at, 0x7fffffff;`;
  const text = kernel(block[0] === 1 ? wrong : `${exchange} ${wrong}`);
  const asked: Asked = { text, grid: [16, 3, 1], block };
  expect(blocksFor(asked)).not.toEqual(block);
  const [jit, reference] = (["jit", "interpreter"] as const).map((engine) => run(asked, engine, bytes).result);
  expect(jit!.reports[0]!.threads).toEqual([{ block: [13, 1, 0], thread: [block[0] >> 1, 0, 0] }]);
  expect(jit!.reports).toEqual(reference!.reports);
});

test("one kernel in blocks of several sizes, side by side and as they are", () => {
  const text = kernel(exchange);
  const device = new Device();
  const entry = device.load({ path: "k.ptx", text }).kernel("k");
  const shapes: [Dim3, Dim3][] = [
    [
      [8, 2, 1],
      [4, 1, 1],
    ],
    [
      [6, 2, 1],
      [4, 1, 1],
    ],
    [
      [7, 2, 1],
      [4, 1, 1],
    ],
    [
      [2, 2, 1],
      [4, 1, 4],
    ],
    [
      [8, 2, 1],
      [2, 2, 1],
    ],
  ];
  for (const [grid, block] of [...shapes, ...shapes.toReversed()]) {
    if (block[2] > 1) continue;
    const out = device.buffer(
      "u32",
      [...grid, ...block].reduce((a, b) => a * b),
    );
    expect(entry.launch({ grid, block, args: [out] }).ok).toBe(true);
    expect(out.read()).toEqual(run({ text, grid, block }, "interpreter").words);
  }
});
