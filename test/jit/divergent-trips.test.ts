import { expect, test } from "vitest";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { KernelCache, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { LaunchShapes } from "../../src/jit/run/launch-shapes.ts";
import { loadProgram } from "../../src/program/program.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../src/runtime/device/device-core.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { expectSameResults } from "./both-engines.ts";

// Warps whose lanes go around loops a different number of times, between operations of the warp: what lanes have before,
// in and after the loops is what the interpreter has, chunk after chunk, with many values that pass from block to block.

const words = (count: number, of: (i: number) => number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => of(i)).buffer);

/** How often the lanes of a block go around: all alike, all but some, none, each as often as it likes. */
const rounds: readonly (readonly [name: string, of: (thread: number) => number])[] = [
  ["all alike", () => 5],
  ["as rows end", (t) => (t % 32 < 11 ? 4 : 3)],
  ["one lane alone", (t) => (t % 32 === 17 ? 6 : 0)],
  ["none", () => 0],
  ["each another number", (t) => (t * 7) % 9],
  ["warps by turns", (t) => ((t >> 5) % 2 === 0 ? 4 : (t * 5) % 4)],
];

/** Kernels `k(n, in, out)` by what they do around `%n` rounds. `%v0` to `%v9` live from the beginning to the end. */
const bodies: Readonly<Record<string, string>> = {
  "a sum": `
    LOOP: setp.eq.u32 %p, %n, 0; @%p bra DONE;
    ld.global.u32 %x, [%at]; add.u32 %sum, %sum, %x; add.s64 %at, %at, 128; sub.u32 %n, %n, 1; bra LOOP;
    DONE:`,
  "a remainder, then four at a time, with an index that goes on": `
    and.b32 %m, %n, 3; mov.u32 %i, %t; setp.eq.u32 %p, %m, 0; @%p bra FOURS;
    mul.wide.u32 %o, %i, 4; add.s64 %at, %in, %o;
    ONES: ld.global.u32 %x, [%at]; add.u32 %sum, %sum, %x; add.u32 %i, %i, 32; add.s64 %at, %at, 128;
    sub.u32 %m, %m, 1; setp.ne.u32 %p, %m, 0; @%p bra ONES;
    FOURS: setp.lt.u32 %p, %n, 4; @%p bra DONE;
    mul.wide.u32 %o, %i, 4; add.s64 %at, %in, %o; shr.u32 %m, %n, 2;
    AGAIN: ld.global.u32 %x, [%at]; ld.global.u32 %y, [%at+128]; mad.lo.u32 %sum, %x, 3, %sum; xor.b32 %sum, %sum, %y;
    add.s64 %at, %at, 512; sub.u32 %m, %m, 1; setp.ne.u32 %p, %m, 0; @%p bra AGAIN;
    DONE: add.u32 %sum, %sum, %i;`,
  "a loop within a loop, left from inside": `
    mov.u32 %i, 0;
    OUTER: setp.ge.u32 %p, %i, %n; @%p bra DONE; mov.u32 %m, 0;
    INNER: mad.lo.u32 %sum, %m, %v3, %sum; add.u32 %m, %m, 1;
    and.b32 %x, %sum, 63; setp.eq.u32 %p, %x, 7; @%p bra DONE;
    setp.le.u32 %p, %m, %i; @%p bra INNER;
    add.u32 %i, %i, 1; bra OUTER;
    DONE: add.u32 %sum, %sum, %i;`,
  "what lanes that go around replace, and others keep": `
    mov.u32 %y, %v1; setp.eq.u32 %p, %n, 0; @%p bra DONE;
    LOOP: ld.global.u32 %x, [%at]; add.u32 %sum, %sum, %x; add.s64 %at, %at, 128; sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0; @%p bra LOOP;
    mad.lo.u32 %y, %sum, 3, %t;
    DONE: xor.b32 %sum, %sum, %y;`,
  "an address that is one of two, and grows": `
    setp.gt.u32 %p, %block, 1; @%p bra FAR; mul.wide.u32 %o, %t, 4; bra HERE;
    FAR: and.b32 %x, %v2, 31; mul.wide.u32 %o, %x, 4;
    HERE: add.s64 %at, %in, %o;
    LOOP: setp.eq.u32 %p, %n, 0; @%p bra DONE;
    ld.global.u32 %x, [%at]; add.u32 %sum, %sum, %x; add.s64 %at, %at, 64; sub.u32 %n, %n, 1; bra LOOP;
    DONE:`,
};

const lasting = Array.from({ length: 10 }, (_, i) => i);

const kernelOf = (body: string): string => `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 n, .param .u64 in, .param .u64 out)
{
  .reg .b64 %pn, %in, %out, %at, %o; .reg .b32 %t, %g, %block, %threads, %n, %m, %i, %x, %y, %sum, %v<10>; .reg .pred %p;
  ld.param.u64 %pn, [n]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %threads, %ntid.x; mad.lo.u32 %g, %block, %threads, %t;
  mul.wide.u32 %o, %g, 4; add.s64 %pn, %pn, %o; ld.global.u32 %n, [%pn];
  mul.wide.u32 %o, %t, 4; add.s64 %at, %in, %o; ld.global.u32 %sum, [%at];
  ${lasting.map((i) => `mad.lo.u32 %v${i}, %sum, ${2 * i + 3}, %g;`).join(" ")}
  shfl.sync.bfly.b32 %x, %sum, 1, 31, -1; add.u32 %sum, %sum, %x;
  ${body}
  shfl.sync.bfly.b32 %x, %sum, 16, 31, -1; mad.lo.u32 %sum, %sum, 5, %x;
  shfl.sync.down.b32 %x, %sum, 3, 31, -1; xor.b32 %sum, %sum, %x;
  ${lasting.map((i) => `mad.lo.u32 %sum, %sum, 7, %v${i};`).join(" ")}
  mul.wide.u32 %o, %g, 4; add.s64 %out, %out, %o; st.global.u32 [%out], %sum;
  ret;
}`;

const grid = 4;
const block = 96;

const cases = (["jit", "native"] as const).flatMap((engine) =>
  Object.entries(bodies).flatMap(([name, body]) => rounds.map(([how, of]) => ({ name, how, body, of, engine }))),
);

test.each(cases)("$name: $how, $engine", ({ body, of, engine }) => {
  const threads = grid * block;
  const buffers = [words(threads, of), words(2048, (i) => Math.imul(i, 2654435761) >>> 7), words(threads, () => 0)];
  expectSameResults({ text: kernelOf(body), buffers, launch: { grid, block } }, engine);
});

/** What is known of the code for a kernel before it has run, and after it has run for long. */
function foundOf(text: string) {
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  const program = loadProgram(new DeviceCore().memory, module);
  const shapes = new LaunchShapes(new CompiledFunctions(program), program, null);
  const params = new Uint8Array(24);
  const request = { kernel: "k", grid: [grid, 1, 1], block: [block, 1, 1], sharedBytes: 0, params } as const;
  return [false, true].map((isHot) => {
    const { shape, isEarly } = shapes.find(program.functionNamed("k")!.ir, request, isHot);
    return { isEarly, masks: shape.maskedRounds };
  });
}

const loop = (condition: string): string => `mov.u32 %i, 0;
  LOOP: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, ${condition}; @%p bra LOOP;`;

test.each([
  ["lanes leave it one by one", loop("%n"), true],
  ["lanes leave it one by one, by what they compute in it", loop("%v0"), true],
  ["all lanes leave it together", loop("%block"), false],
  ["they exchange values in it, too", loop("%n").replace("add", "shfl.sync.bfly.b32 %x, %sum, 1, 31, -1; add"), false],
  ["they end no loop", "setp.lt.u32 %p, %n, 3; @%p bra DONE; add.u32 %sum, %sum, 1; DONE:", false],
])("a loop gets code for lanes that stay in it once its kernel is hot: %s", (_, body, masks) => {
  expect(foundOf(kernelOf(body))).toEqual([
    { isEarly: masks, masks: false },
    { isEarly: false, masks },
  ]);
});

test("a loop after all exchanges gets none", () => {
  const text = kernelOf("").replace("ret;", `${loop("%n")} st.global.u32 [%out], %i; ret;`);
  expect(foundOf(text)[1]).toEqual({ isEarly: false, masks: false });
});

test("launches find that code then, and give the same results", () => {
  const written: string[] = [];
  const store = { read: () => null, write: (key: string) => void written.push(key), remove: () => {} };
  const device = new PtxDevice();
  const { memory } = device;
  const { module } = compile([new SourceText("k.ptx", kernelOf(loop("%n")))], {});
  const cache = new KernelCache("k", store, new RecentKernels());
  const jit = new JitProgram(loadProgram(memory, module!), null, cache, null, 0.1);
  const threads = grid * block;
  const inputs = [words(threads, (t) => (t * 7) % 9), words(2048, (i) => i * i)];
  const buffers = [...inputs.map((bytes) => device.buffer(bytes)), device.buffer("u32", threads)];
  const params = packArguments(module!.functions[0]!, buffers, { memory, addressSize: 64 });
  const launch = (): readonly unknown[] => {
    jit.launch({ kernel: "k", grid: [grid, 1, 1], block: [block, 1, 1], sharedBytes: 0, params });
    return [...buffers[2]!.read()];
  };
  const isMasked = (): boolean => written.some((key) => key.includes("masked rounds"));
  const expected = launch();
  expect(isMasked()).toBe(false);
  const end = performance.now() + 10_000;
  while (!isMasked() && performance.now() < end) expect(launch()).toEqual(expected);
  expect(isMasked()).toBe(true);
  expect(launch()).toEqual(expected);
});
