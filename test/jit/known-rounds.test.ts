import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { isBarrier } from "../../src/jit/compile/analysis/code/source-code.ts";
import { withKnownRounds } from "../../src/jit/compile/analysis/versions/known-rounds.ts";
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

const kernel = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 s[4096];
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .pred %p, %q; .reg .b32 %t, %u, %v, %w, %n, %i, %j, %k, %b, %a, %e, %c; .reg .b64 %x, %y, %z;
  mov.u32 %t, %tid.x; mov.u32 %b, %ntid.x; ld.param.u32 %n, [n];
  ld.param.u64 %x, [in]; mad.wide.u32 %y, %t, 4, %x; ld.global.u32 %v, [%y];
  mov.u32 %a, s; mad.lo.u32 %e, %t, 4, %a; st.shared.u32 [%e], %v; bar.sync 0;
  ${body}
  ld.shared.u32 %v, [%e];
  ld.param.u64 %x, [out]; mad.wide.u32 %y, %t, 4, %x; st.global.u32 [%y], %v; ret;
}`;

/** Adds the word at %k to that at %j, which no other thread writes, and lets all threads wait. */
const add = `mad.lo.u32 %u, %j, 4, %a; mad.lo.u32 %w, %k, 4, %a; ld.shared.u32 %v, [%u]; ld.shared.u32 %w, [%w];
  add.u32 %v, %v, %w; st.shared.u32 [%u], %v;`;

/** Nodes %j of a tree, with children at a distance of %i. */
const interleaved = (limit: string): string => `mov.u32 %i, 1; setp.ge.u32 %p, %i, ${limit}; @%p bra D;
L: shl.b32 %c, %i, 1; mul.lo.u32 %j, %c, %t; setp.ge.u32 %q, %j, ${limit}; @%q bra N; add.u32 %k, %j, %i;
  ${add}
N: bar.sync 0; mov.u32 %i, %c; setp.lt.u32 %p, %i, ${limit}; @%p bra L;
D:`;

const sequential = (limit: string): string => `shr.u32 %i, ${limit}, 1; setp.eq.u32 %p, %i, 0; @%p bra D;
L: setp.ge.u32 %q, %t, %i; @%q bra N; mov.u32 %j, %t; add.u32 %k, %t, %i;
  ${add}
N: bar.sync 0; shr.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;
D:`;

/** Each thread adds up the words before its own. */
const scan = (limit: string): string => `mov.u32 %i, 1;
L: setp.ge.u32 %p, %i, ${limit}; @%p bra D;
  mov.u32 %w, 0; setp.lt.u32 %q, %t, %i; @%q bra N; sub.u32 %k, %t, %i; mad.lo.u32 %w, %k, 4, %a; ld.shared.u32 %w, [%w];
N: bar.sync 0; ld.shared.u32 %v, [%e]; add.u32 %v, %v, %w; st.shared.u32 [%e], %v; shl.b32 %i, %i, 1; bar.sync 0;
  bra L;
D:`;

const threads = 128;
const input = Array.from({ length: threads }, (_, i) => (i * i + 3) % 101);

const inTree = (n: number): number[] => {
  const words = [...input];
  for (let i = 1; i < n; i *= 2) for (let j = 0; j < n; j += 2 * i) words[j]! += words[j + i]!;
  return words;
};
const inHalves = (n: number): number[] => {
  const words = [...input];
  for (let i = n >> 1; i > 0; i >>= 1) for (let j = 0; j < i; j++) words[j]! += words[j + i]!;
  return words;
};
const scanned = (n: number): number[] => {
  let words = [...input];
  for (let i = 1; i < n; i *= 2) words = words.map((word, j) => (j < i ? word : word + words[j - i]!));
  return words;
};

const kernels = [
  ["a tree of neighbours", interleaved, inTree],
  ["a tree of halves", sequential, inHalves],
  ["a scan", scan, scanned],
] as const;

function run(device: Device, text: string, n: number): readonly number[] {
  const out = device.buffer("u32", threads);
  const args = [out, device.buffer(Uint32Array.from(input)), n];
  const result = device.load(text).kernel("k").launch({ grid: 1, block: threads, args });
  expect({ engine: result.engine, reports: result.reports }).toEqual({ engine: "jit", reports: [] });
  return [...out.read()];
}

/** Without a compiler to machine code, `native` differs from `jit` in that loops are written at once. */
const engines = ["jit", "native"] as const;

describe.each(kernels)("%s", (_, body, expected) => {
  test.each(engines)("of the size of a block, %s", (engine) => {
    expect(run(new Device({ engine }), kernel(body("%b")), 0)).toEqual(expected(threads));
  });

  test.each(engines)("of the size that each launch gives, however many these are, %s", (engine) => {
    const device = new Device({ engine });
    const text = kernel(body("%n"));
    const loaded = device.load(text).kernel("k");
    for (const n of [64, 128, 64, 32, 2, 128, 64, 1, 32]) {
      const out = device.buffer("u32", threads);
      loaded.launch({ grid: 1, block: threads, args: [out, device.buffer(Uint32Array.from(input)), n] });
      expect([...out.read()], `${n}`).toEqual(expected(n));
    }
  });

  test("what is kept for later processes holds for the same size alone", () => {
    const entries = new Map<string, Uint8Array>();
    const store: KernelStore = {
      read: (key) => entries.get(key) ?? null,
      write: (key, value) => void entries.set(key, value),
      remove: (key) => void entries.delete(key),
    };
    for (const sizes of [[64], [128], [64, 32], [16, 64, 128, 8], [8, 128]]) {
      const { launch } = process(kernel(body("%n")), store, 0);
      for (const n of sizes) expect(launch(n), `${n}`).toEqual(expected(n));
    }
  });

  test("from some time on, and from the first launch on in later processes", () => {
    const written: string[] = [];
    const entries = new Map<string, Uint8Array>();
    const store: KernelStore = {
      read: (key) => entries.get(key) ?? null,
      write: (key, value) => {
        entries.set(key, value);
        written.push(key);
      },
      remove: (key) => void entries.delete(key),
    };
    const isByRound = (): boolean => written.some((key) => key.includes("by round"));
    const { launch } = process(kernel(body("%n")), store, 0.5);
    expect(launch(64)).toEqual(expected(64));
    expect(isByRound()).toBe(false);
    const end = performance.now() + 10_000;
    while (!isByRound() && performance.now() < end) expect(launch(64)).toEqual(expected(64));
    expect(isByRound()).toBe(true);
    for (const n of [64, 128, 64, 32, 1]) expect(launch(n), `${n}`).toEqual(expected(n));
    written.length = 0;
    const later = process(kernel(body("%n")), store, 1e6);
    expect(later.prepare()!.loaded.kernel.shape.byRound).toBe(true);
    for (const n of [64, 128]) expect(later.launch(n), `${n}`).toEqual(expected(n));
    expect(written.filter((key) => !key.includes(" as code of "))).toEqual([]);
  });
});

/** A process with a store of kernels: what prepares the kernel there, and what launches it with a size. */
function process(text: string, store: KernelStore, hotAfterMs: number) {
  const device = new PtxDevice();
  const { memory } = device;
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const cache = new KernelCache("k", store, new RecentKernels());
  const jit = new JitProgram(loadProgram(memory, module!), null, cache, null, hotAfterMs);
  const launch = (n: number): readonly number[] => {
    const buffers = [device.buffer("u32", threads), device.buffer(Uint32Array.from(input))] as const;
    const params = packArguments(module!.functions[0]!, [...buffers, n], { memory, addressSize: 64 });
    jit.launch({ kernel: "k", grid: [1, 1, 1], block: [threads, 1, 1], sharedBytes: 0, params });
    return [...(buffers[0].read() as Uint32Array)];
  };
  return { launch, prepare: () => jit.prepare("k", 1) };
}

/** How many barriers a kernel has, if its loops are written round by round. */
function barriersOf(body: string, block = threads): number {
  const { module, diagnostics } = compile([new SourceText("k.ptx", kernel(body))], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  const program = loadProgram(new DeviceCore().memory, module);
  const source = { ir: program.functionNamed("k")!.ir, origins: null };
  return withKnownRounds(source, [block, 1, 1]).ir.instructions.filter(isBarrier).length;
}

/** Rounds of which each begins with an instruction, and ends with another. */
const loop = (start: string, body: string, end: string): string =>
  `mov.u32 %i, ${start}; mov.u32 %j, 0;\nL: ${body} bar.sync 0; ${end} @%p bra L;\nD:`;
const part = "setp.ge.u32 %q, %t, %i; @%q bra N; add.u32 %v, %v, 1;\nN:";
const doubled = "shl.b32 %i, %i, 1; setp.lt.u32 %p, %i, %b;";

describe("loops are written round by round", () => {
  test.each([
    ["a stride that is doubled", loop("1", part, doubled), 7],
    [
      "another test than of the stride",
      loop("2", part, "shl.b32 %i, %i, 1; add.u32 %j, %j, 1; setp.ne.u32 %p, %j, 5;"),
      5,
    ],
    ["a way out in the middle", loop("1", `${part} setp.ge.u32 %q, %i, 32; @%q bra D;`, doubled), 5],
    [
      "one in another",
      `mov.u32 %k, 1;
M: ${loop("%k", part, "shr.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0;")} shl.b32 %k, %k, 1; setp.lt.u32 %p, %k, 16; @%p bra M;`,
      10,
    ],
  ])("%s", (_, body, barriers) => {
    expect(barriersOf(body)).toBe(1 + barriers);
  });

  test.each([
    ["they count", loop("0", part, "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 8;")],
    ["nobody knows how often", loop("1", part, "shl.b32 %i, %i, 1; setp.lt.u32 %p, %i, %n;")],
    ["data decides", loop("1", `ld.shared.u32 %u, [%a]; setp.eq.u32 %q, %u, 0; @%q bra D; ${part}`, doubled)],
    ["threads leave alone", loop("1", `setp.eq.u32 %q, %t, %i; @%q bra D; ${part}`, doubled)],
    ["no thread does anything else", loop("1", "add.u32 %v, %v, %i;", doubled)],
    ["there are too many rounds", loop("1", part, "mul.lo.u32 %i, %i, 3; add.u32 %j, %j, 1; setp.lt.u32 %p, %j, 40;")],
    ["threads have a stride each", loop("1", part, "@%q shl.b32 %i, %i, 1; add.u32 %j, %j, 1; setp.lt.u32 %p, %j, 4;")],
  ])("not where %s", (_, body) => {
    expect(barriersOf(body)).toBe(2);
  });
});

/** The lanes of a chunk in which a launch runs. */
function widthOf(body: string): number {
  const { module } = compile([new SourceText("k.ptx", kernel(body))], {});
  const program = loadProgram(new DeviceCore().memory, module!);
  const shapes = new LaunchShapes(new CompiledFunctions(program), program, null);
  const params = new Uint8Array(20);
  const request = { kernel: "k", grid: [1, 1, 1], block: [threads, 1, 1], sharedBytes: 0, params } as const;
  return 4 * shapes.of(program.functionNamed("k")!.ir, request, true).quads;
}

test("lanes of different chunks that meet within a round go in step", () => {
  // What the thread half a warp further on has stored, without a barrier between.
  const meeting = `${part} st.shared.u32 [%e], %v; add.u32 %k, %t, 16; and.b32 %k, %k, 127; mad.lo.u32 %w, %k, 4, %a;
ld.shared.u32 %w, [%w]; add.u32 %v, %v, %w;`;
  expect(widthOf(loop("1", part, doubled))).toBe(16);
  expect(widthOf(loop("1", meeting, doubled))).toBe(32);
  // The same of a neighbour among eight.
  const near = meeting.replace("add.u32 %k, %t, 16", "xor.b32 %k, %t, 5");
  expect(widthOf(loop("1", near, doubled))).toBeLessThan(32);
  for (const body of [meeting, near]) {
    const text = kernel(loop("1", body, doubled));
    const [interpreter, ...compiled] = (["interpreter", ...engines] as const).map((engine) => {
      const device = new Device({ engine });
      const out = device.buffer("u32", threads);
      const args = [out, device.buffer(Uint32Array.from(input)), 0];
      const ran = device.load(text).kernel("k").launch({ grid: 1, block: threads, args }).engine;
      expect(ran).toBe(engine === "native" ? "jit" : engine);
      return [...out.read()];
    });
    expect(compiled).toEqual(engines.map(() => interpreter));
  }
});
