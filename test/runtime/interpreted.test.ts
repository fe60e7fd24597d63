import { afterEach, expect, test, vi } from "vitest";
import { Device } from "../../src/index.ts";

const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry plain() { ret; }
.func meet() { .reg .b64 %p; alloca.u64 %p, 16; bar.sync 0; ret; }
.visible .entry meets() { call meet, (); ret; }
.func dive(.reg .u32 %n) { .reg .pred %p; setp.eq.u32 %p, %n, 0; @%p ret; sub.u32 %n, %n, 1; call dive, (%n); ret; }
.visible .entry dives() { .reg .u32 %n; mov.u32 %n, 10000; call dive, (%n); ret; }
.visible .entry counts() { .reg .u32 %n; mov.u32 %n, 33; bar.sync 0, %n; ret; }`;

interface Settings {
  readonly engine?: "interpreter";
  readonly sanitize?: readonly "race"[];
  readonly seed?: number;
  readonly maxSteps?: number;
  readonly timeoutMs?: number;
}

const block = { grid: 1, block: 32 } as const;

test.each<[string, Settings, string | null, boolean?]>([
  ["plain", {}, null],
  ["plain", { engine: "interpreter" }, "the interpreter was asked for"],
  ["plain", { sanitize: ["race"] }, null],
  ["meets", { sanitize: ["race"] }, "sanitizers watch: the operation alloca"],
  ["plain", { seed: 1 }, "the schedule is chosen"],
  ["plain", { maxSteps: 1000 }, "steps are limited"],
  ["plain", { timeoutMs: 1000 }, "time is limited"],
  ["meets", {}, "not compiled: alloca, beside pauses in functions"],
  ["dives", {}, "not compiled: calls that nest too deeply for the stack of WebAssembly"],
  ["counts", {}, "not compiled: barriers to which threads do not come as they should", false],
])("%s with %j: why it is interpreted", async (kernel, options, why, isOk = true) => {
  const launched = new Device().load(text).kernel(kernel);
  const all = [launched.launch({ ...block, ...options }), await launched.launchAsync({ ...block, ...options })];
  for (const { ok, engine, interpreted } of all) {
    expect({ ok, engine, interpreted }).toEqual({
      ok: isOk,
      engine: why === null ? "jit" : "interpreter",
      interpreted: why,
    });
  }
});

test("kernels of vISA that sanitizers watch are interpreted for what they are", () => {
  const kernel = '.version 4.0\n.kernel "k"\n.kernel_attr SimdSize=16\n.function "k_main"\nk_main:\n    ret (M1, 1)\n';
  const launched = new Device().load({ path: "k.visaasm", text: kernel }, { isa: "visa", inputs: [] }).kernel("k");
  const result = launched.launch({ global: 16, local: 16, sanitize: ["race"] });
  expect(result).toMatchObject({ ok: true, interpreted: "sanitizers watch: hardware threads (vISA)" });
});

test("kernels of clusters that sanitizers watch are interpreted for what they are", () => {
  const result = new Device()
    .load(text)
    .kernel("plain")
    .launch({ ...block, cluster: 1, sanitize: ["race"] });
  expect(result).toMatchObject({ ok: true, interpreted: "sanitizers watch: clusters of blocks" });
});

afterEach(() => vi.unstubAllGlobals());

test("where a page's policy forbids WebAssembly, kernels are interpreted", async () => {
  const { Module, CompileError } = WebAssembly;
  const forbidding = Object.create(WebAssembly, {
    Module: {
      value: class extends Module {
        constructor(bytes: Uint8Array<ArrayBuffer>) {
          super(bytes);
          throw new CompileError("violates the following Content Security policy directive");
        }
      },
    },
  });
  vi.stubGlobal("WebAssembly", forbidding);
  // Not one of the kernels above, which may have been compiled before.
  const kernel = new Device().load(text.replace("plain() {", "plain() { .reg .u32 %n; mov.u32 %n, 1;")).kernel("plain");
  for (const result of [kernel.launch(block), await kernel.launchAsync(block)]) {
    expect(result).toMatchObject({
      ok: true,
      engine: "interpreter",
      interpreted: "not compiled: this page's policy allows no WebAssembly",
    });
  }
});
