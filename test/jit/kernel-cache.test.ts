import { expect, test, vi } from "vitest";
import { loadProgram } from "../../src/program/program.ts";
import type { NativeCode, NativeCompiler } from "../../src/jit/abi/native-code.ts";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { KernelCache, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { LaunchShapes } from "../../src/jit/run/launch-shapes.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";

/** out[t] = table[t] + scale, one after its end for the last of 8 threads; `scale` is constant memory. */
const text = `.version 8.0
.target sm_80
.address_size 64
.global .u32 table[7] = {10, 20, 30, 40, 50, 60, 70};
.const .u32 scale = 5;
.visible .entry k(.param .u64 out)
{
  .reg .b32 t, x, s;
  .reg .b64 o, a;
  ld.param.u64 o, [out];
  mov.u32 t, %tid.x;
  mov.u64 a, table;
  mad.wide.u32 a, t, 4, a;
  ld.global.u32 x, [a];
  ld.const.u32 s, [scale];
  add.u32 x, x, s;
  mad.wide.u32 o, t, 4, o;
  st.global.u32 [o], x;
  ret;
}`;

/** What a store knows of the machine and its V8: each process asks for it once, or where it runs a module. */
const ofMachine = / (as code|features) of /;

/** A store that says what it has been asked, apart from that. */
class Notebook implements KernelStore {
  readonly entries = new Map<string, Uint8Array>();
  readonly log: string[] = [];

  read(key: string): Uint8Array | null {
    const found = this.entries.get(key) ?? null;
    if (!ofMachine.test(key)) this.log.push(found === null ? "miss" : "hit");
    return found;
  }

  write(key: string, entry: Uint8Array): void {
    if (!ofMachine.test(key)) this.log.push("write");
    this.entries.set(key, entry);
  }

  remove(key: string): void {
    this.log.push("remove");
    this.entries.delete(key);
  }
}

interface Run {
  readonly store: KernelStore;
  readonly recent?: RecentKernels;
  readonly threads?: number;
  /** Bytes that the device has allocated before. */
  readonly before?: number;
  /** What makes machine code of kernels that have run for a second. */
  readonly compiler?: NativeCompiler;
}

/** On a new device; without `recent` as a new process. */
function run({ store, recent = new RecentKernels(), threads = 7, before = 0, compiler }: Run) {
  const device = new PtxDevice();
  const { memory } = device;
  if (before > 0) device.buffer("u8", before);
  const { module } = compile([new SourceText("k.ptx", text)]);
  const loaded = loadProgram(memory, module!);
  const out = device.buffer("u32", 8);
  const tier = compiler === undefined ? null : { compiler, afterMs: 1000 };
  const jit = new JitProgram(loaded, null, new KernelCache("this program", store, recent), tier);
  const params = packArguments(module!.functions[0]!, [out], { memory, addressSize: 64 });
  const result = jit.launch({ kernel: "k", grid: [1, 1, 1], block: [threads, 1, 1], sharedBytes: 0, params })!;
  const reports = result.reports.map((r) => `${r.source.position(r.span.start).line}: ${r.message}`);
  return { values: [...out.read()].slice(0, threads), reports };
}

/**
 * What a store is asked where nothing is known of a launch: for what the kernel knows of its threads, and to keep that,
 * for the launch's shape, for its kernel, to keep both.
 */
const anew = ["miss", "write", "miss", "miss", "write", "write"];

/** The same where all is in it. */
const again = ["hit", "hit", "hit"];

const kernelsIn = ({ entries }: Notebook): [string, Uint8Array][] =>
  [...entries].filter(([key]) => !/ (shape|threads|features) of /.test(key));

const right = { values: [15, 25, 35, 45, 55, 65, 75], reports: [] };

test("a kernel that is in the store is not compiled again", () => {
  const store = new Notebook();
  expect(run({ store })).toEqual(right);
  expect(run({ store })).toEqual(right);
  expect(store.log).toEqual([...anew, ...again]);
});

test("nor is it analysed, to find what it depends on", () => {
  const store = new Notebook();
  const analysed = vi.spyOn(LaunchShapes.prototype, "of");
  try {
    run({ store });
    expect(analysed).toHaveBeenCalledTimes(1);
    run({ store });
    expect(analysed).toHaveBeenCalledTimes(1);
  } finally {
    analysed.mockRestore();
  }
});

test("where machine code of it is kept, that runs from the first launch on, and the module is never compiled", () => {
  const store = new Notebook();
  run({ store });
  const ran = vi.fn((_: number, __: number, to: number) => to);
  const compiler = (kept: () => NativeCode | string | null): NativeCompiler => ({
    compile: () => null,
    kept,
    instance: () => ran,
  });
  const modules = vi.spyOn(WebAssembly, "Module");
  try {
    run({ store, compiler: compiler(() => ({ addon: "", entry: 1, imports: [] })) });
    expect(ran).toHaveBeenCalledTimes(1);
    expect(modules).not.toHaveBeenCalled();
    for (const none of [null, "it was slower"]) expect(run({ store, compiler: compiler(() => none) })).toEqual(right);
    expect(ran).toHaveBeenCalledTimes(1);
    expect(modules).toHaveBeenCalledTimes(2);
  } finally {
    modules.mockRestore();
  }
});

test("what is in memory is not asked for", () => {
  const store = new Notebook();
  const recent = new RecentKernels();
  expect(run({ store, recent })).toEqual(right);
  expect(run({ store, recent })).toEqual(right);
  expect(store.log).toEqual(anew);
});

test("a fault in a kernel out of the store is told at its line", () => {
  const store = new Notebook();
  const first = run({ store, threads: 8 });
  expect(first.reports).toHaveLength(1);
  expect(first.reports[0]).toMatch(/^14: .*table/);
  expect(run({ store, threads: 8 }).reports).toEqual(first.reports);
  expect(store.log).toEqual([...anew, ...again]);
});

test("where variables lie elsewhere, it is another kernel", () => {
  const store = new Notebook();
  const recent = new RecentKernels();
  expect(run({ store, recent })).toEqual(right);
  expect(run({ store, recent, before: 4096 })).toEqual(right);
  // The shape of the launch is the same.
  expect(store.log).toEqual([...anew, "miss", "miss", "write"]);
});

test("for blocks of another shape, it is another kernel", () => {
  const store = new Notebook();
  run({ store, threads: 8 });
  run({ store, threads: 7 });
  expect(kernelsIn(store)).toHaveLength(2);
});

test("what no kernel can be made of is removed, and compiled anew", () => {
  const whole = new Notebook();
  run({ store: whole });
  const [[key, entry]] = kernelsIn(whole) as [[string, Uint8Array]];
  for (const length of [0, 3, 4, 100, entry.length - 1]) {
    const store = new Notebook();
    store.entries.set(key, entry.subarray(0, length));
    expect({ length, ...run({ store }) }).toEqual({ length, ...right });
    expect(store.log).toEqual(["miss", "write", "miss", "hit", "remove", "write", "write"]);
    expect(store.entries.get(key)).toEqual(entry);
  }
});

test("a shape that is damaged is found anew", () => {
  const store = new Notebook();
  run({ store });
  const [key] = [...store.entries].find(([k]) => k.includes(" shape of "))!;
  const entry = store.entries.get(key)!;
  store.entries.set(key, entry.subarray(0, 10));
  store.log.length = 0;
  expect(run({ store })).toEqual(right);
  expect(store.log).toEqual(["hit", "hit", "remove", "hit", "write"]);
  expect(store.entries.get(key)).toEqual(entry);
});

test("of what is in memory, the longest unused goes first", () => {
  const bytes = new Uint8Array(100);
  const add = (recent: RecentKernels, key: string): void =>
    recent.add(key, { kernel: { bytes, tiles: new Uint8Array() } } as unknown as Parameters<RecentKernels["add"]>[1]);
  const recent = new RecentKernels(250);
  for (const key of ["a", "b"]) add(recent, key);
  recent.get("a");
  add(recent, "c");
  expect(["a", "b", "c"].map((key) => recent.get(key) !== null)).toEqual([true, false, true]);
});

test("a program's text, its target and its parts tell it from others", () => {
  const store = new Notebook();
  const launch = (files: readonly string[], target?: string): void => {
    const device = new PtxDevice({ engine: "jit", kernelStore: store });
    const sources = files.map((body, i) => ({ path: `f${i}.ptx`, text: body }));
    const module = device.load(sources, { target });
    module.kernel("k").launch({ grid: 1, block: 7, args: [device.buffer("u32", 8)] });
  };
  const other = text.replace("scale = 5", "scale = 6");
  const more = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (const files of [[text], [other], [text, more]]) {
    launch(files);
    launch(files);
  }
  launch([text], "sm_90");
  expect(kernelsIn(store)).toHaveLength(4);
});
