import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { KernelCache, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { loadProgram } from "../../src/program/program.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { codeTag, moduleWithCode, optimizedCode } from "../../src/wasm/index.ts";

/** A thread's chain of products and sums, as long as it is told. */
const text = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds) {
  .reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %q;
  ld.param.u64 %d0, [out]; ld.param.u32 %r0, [rounds];
  mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d0, %d1; mov.u32 %r4, %r1; mov.u32 %r5, 0;
AGAIN:
  mad.lo.u32 %r4, %r4, 1664525, %r1; xor.b32 %r4, %r4, %r5;
  add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, %r0; @%q bra AGAIN;
  st.global.u32 [%d2], %r4; ret;
}`;

const entries = new Map<string, Uint8Array>();
const store: KernelStore = {
  read: (key) => entries.get(key) ?? null,
  write: (key, entry) => void entries.set(key, entry),
  remove: (key) => void entries.delete(key),
};
const codeKey = (): string | undefined => [...entries.keys()].find((key) => key.includes(" as code of "));

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

/** A kernel on a device of its own, as in a process of its own. */
function launcher() {
  const device = new PtxDevice();
  const { memory } = device;
  const { module } = compile([new SourceText("k.ptx", text)]);
  const jit = new JitProgram(loadProgram(memory, module!), null, new KernelCache("k", store, new RecentKernels()));
  const out = device.buffer("u32", 128);
  return (rounds: number): number[] => {
    const params = packArguments(module!.functions[0]!, [out, rounds], { memory, addressSize: 64 });
    jit.launch({ kernel: "k", grid: [1, 1, 1], block: [128, 1, 1], sharedBytes: 0, params });
    return [...out.read()];
  };
}

test.skipIf(codeTag() === null)(
  "what V8 has optimized of a kernel when a process ends, the next one begins with",
  async () => {
    const first = launcher();
    const right = first(3);
    end();
    expect(codeKey()).toBeUndefined();
    // V8 optimizes beside the kernel, and is done soon after that has run for long enough.
    await vi.waitFor(
      () => {
        first(100_000);
        end();
        expect(codeKey()).toBeDefined();
      },
      { timeout: 30_000, interval: 20 },
    );
    const kept = entries.get(codeKey()!)!;
    const compiled = vi.spyOn(WebAssembly, "Module");
    try {
      expect(launcher()(3)).toEqual(right);
      expect(compiled).not.toHaveBeenCalled();
      // Code of another V8 begins otherwise: V8 refuses it.
      entries.set(
        codeKey()!,
        kept.map((byte, i) => (i < 16 ? byte ^ 1 : byte)),
      );
      expect(launcher()(3)).toEqual(right);
      expect(compiled).toHaveBeenCalledTimes(1);
    } finally {
      compiled.mockRestore();
    }
  },
);

test.skipIf(codeTag() === null)("a module of which nothing is optimized has no code", () => {
  const bytes = Uint8Array.of(
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    4,
    1,
    96,
    0,
    0,
    3,
    2,
    1,
    0,
    7,
    5,
    1,
    1,
    102,
    0,
    0,
    10,
    4,
    1,
    2,
    0,
    11,
  );
  const module = new WebAssembly.Module(bytes);
  const { f } = new WebAssembly.Instance(module).exports;
  expect(optimizedCode(module, f)).toBeNull();
  expect(moduleWithCode(bytes, new Uint8Array(100))).toBeNull();
  expect(moduleWithCode(bytes, new Uint8Array())).toBeNull();
});
