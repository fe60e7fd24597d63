import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CompiledKernel } from "../../src/jit/abi/compiled-kernel.ts";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { CachedKernel, KernelCache, type NotedLaunch, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { LoadedKernel } from "../../src/jit/run/loaded-kernel.ts";
import { loadProgram } from "../../src/program/program.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { machineFeatures } from "../../src/wasm/index.ts";

const text = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %d<3>;
  ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r0; ret;
}`;

const entries = new Map<string, Uint8Array>();
const store = {
  read: (key) => entries.get(key) ?? null,
  write: vi.fn((key: string, entry: Uint8Array) => void entries.set(key, entry)),
  remove: (key) => void entries.delete(key),
} satisfies KernelStore;

/** What is to be done when the process ends. */
let end = (): void => {};
beforeAll(() => {
  const once = process.once.bind(process);
  vi.spyOn(process, "once").mockImplementation((event, then) => {
    if (event !== "exit") return once(event, then);
    end = then as () => void;
    return process;
  });
});
afterAll(() => vi.restoreAllMocks());

const cacheOfProcess = (): KernelCache => new KernelCache("k", store, new RecentKernels());
const noted = (): NotedLaunch | null => cacheOfProcess().firstLaunchOf("k");

const { module } = compile([new SourceText("k.ptx", text)]);

/** A kernel on a device of its own, launched as in a process of its own. */
function launchIn(cache: KernelCache): void {
  const device = new PtxDevice();
  const { memory } = device;
  const jit = new JitProgram(loadProgram(memory, module!), null, cache);
  jit.prepare("k", 1);
  const params = packArguments(module!.functions[0]!, [device.buffer("u32", 32)], { memory, addressSize: 64 });
  jit.launch({ kernel: "k", grid: [1, 1, 1], block: [32, 1, 1], sharedBytes: 0, params });
}

/** Times as the clock says that they are: each reading is so many milliseconds after the one before. */
function clock<T>(ms: number, run: () => T): T {
  let now = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => (now += ms));
  try {
    return run();
  } finally {
    spy.mockRestore();
  }
}

test("the time that a block took is noted when the process ends, and again if it is another", () => {
  clock(1, () => launchIn(cacheOfProcess()));
  expect(noted()).toMatchObject({ blockMs: null });
  end();
  const first = noted()!.blockMs!;
  expect(first).toBeGreaterThan(0);
  store.write.mockClear();
  clock(1, () => launchIn(cacheOfProcess()));
  end();
  expect(store.write.mock.calls.filter(([key]) => key.includes("first launch"))).toEqual([]);
  clock(100, () => launchIn(cacheOfProcess()));
  end();
  expect(noted()!.blockMs).toBeGreaterThan(10 * first);
});

/** A kernel whose module has begun with optimized code, or not. */
class KnownKernel extends CachedKernel {
  readonly #begins: boolean;

  constructor(kernel: CompiledKernel, begins: boolean) {
    super(kernel);
    this.#begins = begins;
  }

  override get beginsOptimized(): boolean {
    return this.#begins;
  }
}

test("a noted time holds for launches that nobody can share, of optimized code, until a block has been seen", () => {
  const { memory } = new PtxDevice();
  const kernel = new JitProgram(loadProgram(memory, module!)).compiled("k", [32, 1, 1], machineFeatures());
  if (typeof kernel === "string") throw new Error(kernel);
  const expected = { blockMs: 5, mostMs: 5 };
  const loaded = new LoadedKernel(new KnownKernel(kernel, true), memory, expected, null, 0.25);
  expect([loaded.blockMs, loaded.blockMsAlone]).toEqual([5, 0.25]);
  loaded.noteTime(8, 4, false);
  expect([loaded.blockMs, loaded.blockMsAlone]).toEqual([2, 2]);
  const cold = new LoadedKernel(new KnownKernel(kernel, false), memory, expected, null, 0.25);
  expect([cold.blockMs, cold.blockMsAlone]).toEqual([5, 5]);
});
