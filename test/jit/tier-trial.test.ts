import { afterEach, expect, test, vi } from "vitest";
import type { NativeCompiler } from "../../src/jit/abi/native-code.ts";
import { TierTrial } from "../../src/jit/run/tier-trial.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";

/** Notes launches of given milliseconds until the trial ends. Returns its answer and what the launches were. */
function tried(first: number, native: (launch: number) => number, wasm: (launch: number) => number) {
  const trial = new TierTrial(first);
  const launches: string[] = [];
  while (trial.isSlower === null) {
    const isNative = trial.nextIsNative;
    trial.note(isNative, (isNative ? native : wasm)(launches.length));
    launches.push(isNative ? "native" : "wasm");
  }
  return { isSlower: trial.isSlower, launches };
}

test("machine code stays or goes after one more launch as WebAssembly, if all comparisons agree", () => {
  const launches = ["native", "native", "wasm", "native"];
  const quick = tried(
    31,
    () => 10,
    () => 31,
  );
  expect(quick).toEqual({ isSlower: false, launches });
  const slow = tried(
    31,
    () => 57,
    () => 31,
  );
  expect(slow).toEqual({ isSlower: true, launches });
});

test.each([
  ["a slow first launch, which loads the code", [500, 10, 10], 30, false],
  ["one launch that something has disturbed", [10, 500, 10, 10, 10, 10], 30, false],
  ["a little slower, which may be chance", [11, 11, 11, 11], 10, false],
])("%s is no reason to give machine code up", (_, native, wasm, isSlower) => {
  let at = 0;
  const got = tried(
    wasm,
    () => native[at++]!,
    () => wasm,
  );
  expect(got.isSlower).toBe(isSlower);
});

test("blocks that have more and more to do are compared with those just before", () => {
  const quick = tried(
    10,
    (i) => 8 * 1.5 ** (i + 1),
    (i) => 10 * 1.5 ** (i + 1),
  );
  expect(quick.isSlower).toBe(false);
  const slow = tried(
    10,
    (i) => 20 * 0.7 ** (i + 1),
    (i) => 10 * 0.7 ** (i + 1),
  );
  expect(slow.isSlower).toBe(true);
});

test("a launch that ran as something else than it was to is compared as what it was", () => {
  const trial = new TierTrial(10);
  // Three launches of WebAssembly that had begun before.
  for (let i = 0; i < 3; i++) trial.note(false, 10);
  expect(trial.isSlower).toBeNull();
  expect(trial.nextIsNative).toBe(true);
});

const text = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %d; ld.param.u64 %d, [out]; st.global.u32 [%d], 7; ret;
}`;

afterEach(() => vi.restoreAllMocks());

/** The engines of launches, each of which takes 500 ms by a clock of the test's own, and as machine code more. */
function enginesOfLaunches(engine: "native" | "tiered" | null, moreMs: number, count: number) {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 500));
  const compile = vi.fn(() => ({ addon: "", entry: 1, imports: [] }));
  const compiler: NativeCompiler = {
    compile,
    instance: () => (_, __, to) => {
      now += moreMs;
      return to;
    },
  };
  const device = new PtxDevice({ ...(engine !== null && { engine }), nativeCompiler: compiler });
  const kernel = device.load({ path: "k.ptx", text }).kernel("k");
  const args = [device.buffer("u32", 1)];
  const results = Array.from({ length: count }, () => kernel.launch({ grid: 1, block: 1, args }));
  const engines = results.map(({ engine }) => engine);
  return { engines, asked: compile.mock.calls.length, why: results.at(-1)!.notNative };
}

test("a tiered kernel that machine code slows down goes back to compiled code and stays there", () => {
  const { engines, asked, why } = enginesOfLaunches("tiered", 2000, 20);
  const first = engines.indexOf("native");
  expect(engines.slice(first, first + 4)).toEqual(["native", "native", "jit", "native"]);
  expect(new Set(engines.slice(first + 6))).toEqual(new Set(["jit"]));
  expect(asked).toBe(1);
  expect(why).toBe("it was slower than compiled code");
});

test("one that it does not slow down keeps it, and so does one for which it was asked", () => {
  const { engines } = enginesOfLaunches("tiered", 0, 20);
  const first = engines.indexOf("native");
  expect(engines.slice(first, first + 4)).toEqual(["native", "native", "jit", "native"]);
  expect(new Set(engines.slice(first + 6))).toEqual(new Set(["native"]));
  vi.restoreAllMocks();
  expect(new Set(enginesOfLaunches("native", 2000, 8).engines)).toEqual(new Set(["native"]));
});

test("a device with a compiler to machine code is tiered unless it says otherwise", () => {
  expect(enginesOfLaunches(null, 0, 20)).toEqual(enginesOfLaunches("tiered", 0, 20));
});
