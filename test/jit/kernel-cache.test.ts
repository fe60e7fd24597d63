import { describe, expect, test, vi } from "vitest";
import { loadProgram } from "../../src/program/program.ts";
import type { NativeCode, NativeCompiler } from "../../src/jit/abi/native-code.ts";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { KernelCache, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { LaunchShapes } from "../../src/jit/run/launch-shapes.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import type { DeviceOptions } from "../../src/runtime/device/device-core.ts";
import type { Kernel } from "../../src/runtime/device/module.ts";
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

/**
 * What a store knows of the machine and its V8, for which each process asks once or where it runs a module, and of the
 * first launches of other processes.
 */
const besides = / (as code|features|first launch) of /;

/** A store that says what it has been asked, apart from that. */
class Notebook implements KernelStore {
  readonly entries = new Map<string, Uint8Array>();
  readonly log: string[] = [];

  read(key: string): Uint8Array | null {
    const found = this.entries.get(key) ?? null;
    if (!besides.test(key)) this.log.push(found === null ? "miss" : "hit");
    return found;
  }

  write(key: string, entry: Uint8Array): void {
    if (!besides.test(key)) this.log.push("write");
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

/** The program on a new device; without `recent` as in a new process. */
function open({ store, recent = new RecentKernels(), before = 0, compiler }: Run) {
  const device = new PtxDevice();
  const { memory } = device;
  if (before > 0) device.buffer("u8", before);
  const { module } = compile([new SourceText("k.ptx", text)]);
  const loaded = loadProgram(memory, module!);
  const tier = compiler === undefined ? null : { compiler, afterMs: 1000 };
  const jit = new JitProgram(loaded, null, new KernelCache("this program", store, recent), tier);
  const launch = (threads: number, hostThreads = 1) => {
    const out = device.buffer("u32", 8);
    const params = packArguments(module!.functions[0]!, [out], { memory, addressSize: 64 });
    const sizes = { grid: [1, 1, 1], block: [threads, 1, 1], sharedBytes: 0 } as const;
    const result = jit.launch({ kernel: "k", ...sizes, params, hostThreads })!;
    const reports = result.reports.map((r) => `${r.source.position(r.span.start).line}: ${r.message}`);
    return { values: [...out.read()].slice(0, threads), reports };
  };
  return { device, jit, launch };
}

const run = ({ threads = 7, ...how }: Run) => open(how).launch(threads);

/**
 * What a store is asked where nothing is known of a launch: for what the kernel knows of its threads, and to keep that,
 * for the launch's shape, for its kernel, to keep both.
 */
const anew = ["miss", "write", "miss", "miss", "write", "write"];

/** The same where all is in it. */
const again = ["hit", "hit", "hit"];

const kernelsIn = ({ entries }: Notebook): [string, Uint8Array][] =>
  [...entries].filter(([key]) => !/ (shape|threads|features|first launch) of /.test(key));

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

/** How many modules and instances something makes. */
function madeBy(make: () => void): { readonly modules: number; readonly instances: number } {
  const { Module, Instance } = WebAssembly;
  const made = { modules: 0, instances: 0 };
  const counting = <T extends object>(type: T, as: keyof typeof made): T =>
    new Proxy(type, {
      construct: (target, args) => {
        made[as]++;
        return Reflect.construct(target as new () => object, args);
      },
    });
  Object.assign(WebAssembly, { Module: counting(Module, "modules"), Instance: counting(Instance, "instances") });
  try {
    make();
    return made;
  } finally {
    Object.assign(WebAssembly, { Module, Instance });
  }
}

describe("a kernel that is prepared", () => {
  const oneOfEach = { modules: 1, instances: 1 };
  const none = { modules: 0, instances: 0 };

  test("is loaded as the first launch of an earlier process needed it, which the launch then finds", () => {
    const store = new Notebook();
    run({ store });
    run({ store, threads: 8 });
    const { jit, launch } = open({ store });
    // The machine's features are found by modules of their own.
    jit.prepare("other", 1);
    store.log.length = 0;
    expect(madeBy(() => jit.prepare("k", 1))).toEqual(oneOfEach);
    expect(store.log).toEqual(again);
    expect(madeBy(() => void expect(launch(8).reports).toHaveLength(1))).toEqual(none);
    expect(store.log).toEqual(again);
    // For other blocks it is another kernel.
    expect(madeBy(() => void expect(launch(7)).toEqual(right))).toEqual(oneOfEach);
  });

  test("is not, where nothing is known of it, or what was known is gone or damaged", () => {
    const store = new Notebook();
    const fresh = open({ store });
    expect(madeBy(() => fresh.jit.prepare("k", 1))).toEqual(none);
    expect(fresh.launch(7)).toEqual(right);
    const [first] = [...store.entries].find(([key]) => key.includes(" first launch of "))!;
    const whole = new Map(store.entries);
    for (const key of [first, kernelsIn(store)[0]![0]]) {
      for (const damaged of [null, whole.get(key)!.subarray(0, 9)]) {
        if (damaged === null) store.entries.delete(key);
        else store.entries.set(key, damaged);
        const { jit, launch } = open({ store });
        expect(madeBy(() => jit.prepare("k", 1))).toEqual(none);
        expect(launch(7)).toEqual(right);
        expect([...store.entries].sort()).toEqual([...whole].sort());
      }
    }
  });

  test("takes no room on the device, so that all addresses stay what they would be", () => {
    const store = new Notebook();
    run({ store });
    const addresses = [false, true].map((isPrepared) => {
      const { device, jit } = open({ store });
      if (isPrepared) jit.prepare("k", 1);
      return device.buffer("u32", 8).address;
    });
    expect(addresses[0]).toBe(addresses[1]);
  });

  test("is for the memory that the device has: that of one thread of the host, or of several", () => {
    for (const [before, now] of [
      [1, 2],
      [2, 1],
      [2, 2],
    ] as const) {
      const store = new Notebook();
      expect(open({ store }).launch(7, before)).toEqual(right);
      const { jit, launch } = open({ store });
      expect(madeBy(() => jit.prepare("k", now))).toEqual(before === now ? oneOfEach : none);
      expect(launch(7, 2)).toEqual(right);
    }
  });

  test.each([{ engine: "interpreter" }, { sanitize: "all" }, { seed: 1 }, { maxSteps: 9 }] as const)(
    "is none of a device with %j",
    (defaults) => {
      const store = new Notebook();
      const read = vi.spyOn(store, "read");
      // Of which the memory of this process knows nothing.
      const ownText = `${text} // ${JSON.stringify(defaults)}`;
      const kernelOf = (options: DeviceOptions): Kernel =>
        new PtxDevice({ ...options, kernelStore: store }).load(ownText).kernel("k");
      expect(kernelOf(defaults).name).toBe("k");
      expect(read).not.toHaveBeenCalled();
      kernelOf({});
      expect(read).toHaveBeenCalledTimes(1);
    },
  );
});
