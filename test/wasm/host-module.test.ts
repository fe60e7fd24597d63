import { setFlagsFromString } from "node:v8";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hostModule, ModuleWriter, wasm } from "../../src/wasm/index.ts";

const flags = ["wasm-tier-up", "wasm-dynamic-tiering", "wasm-lazy-compilation"];

/**
 * A module whose `run(n)` loops `n / step` times. V8 reuses its code for modules with the same bytes, so tests use
 * different steps.
 */
function looping(step = 1): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter();
  const w = module.function("run", ["i32"], ["i32"]);
  const n = wasm.local("i32", 0);
  w.loop((again) => {
    w.assign([{ local: 0, value: wasm.op("i32.sub", n, wasm.i32(step)) }]);
    w.value(n);
    w.brIf(again);
  });
  w.value(n);
  module.export("run");
  return module.finish();
}

type Run = (rounds: number) => number;
const runOf = (module: WebAssembly.Module): Run => new WebAssembly.Instance(module).exports["run"] as Run;

describe("how V8 compiles a module", () => {
  setFlagsFromString("--allow-natives-syntax");
  const isUnoptimized = new Function("run", "return %IsLiftoffFunction(run)") as (run: Run) => boolean;

  /** Whether a function that has run for a while is still the output of V8's first tier. */
  async function staysAsItBegan(run: Run): Promise<boolean> {
    for (let i = 0; i < 100 && isUnoptimized(run); i++) {
      run(1_000_000);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return isUnoptimized(run);
  }

  test("functions are optimized, except in a module that is not optimizable", async () => {
    expect(await staysAsItBegan(runOf(hostModule(looping(2), null)))).toBe(true);
    expect(await staysAsItBegan(runOf(hostModule(looping(4), 0)))).toBe(false);
  });

  test("a function that takes long to optimize is not optimized at once, but in the end", async () => {
    const run = runOf(hostModule(looping(5), 3000));
    run(10_000_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isUnoptimized(run)).toBe(true);
    for (let i = 0; i < 10; i++) run(1_000_000_000);
    expect(await staysAsItBegan(run)).toBe(false);
  });
});

describe("flags of V8", () => {
  let set: string[] = [];
  beforeEach(() => {
    set = [];
    const v8 = { setFlagsFromString: (flag: string) => void set.push(flag) };
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(v8 as never);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  const without = flags.map((flag) => `--no-${flag}`);
  const again = flags.map((flag) => `--${flag}`);

  test("they are only set for a module that is not optimizable, and reset afterwards", () => {
    expect(runOf(hostModule(looping(), 0))(5)).toBe(0);
    expect(set).toEqual([]);
    expect(runOf(hostModule(looping(), null))(5)).toBe(0);
    expect(set).toEqual([...without, ...again]);
  });

  test("a function that takes long to optimize is optimized after it has run long", () => {
    expect(runOf(hostModule(looping(), 4000))(5)).toBe(0);
    expect(set).toHaveLength(2);
    expect(set[0]).toBe("--wasm-tiering-budget=2147483647");
    expect(set[1]).toMatch(/^--wasm-tiering-budget=(1800000|13000000)$/);
  });

  test("they are reset even if the module is invalid", () => {
    expect(() => hostModule(new Uint8Array(8), null)).toThrow(WebAssembly.CompileError);
    expect(set).toEqual([...without, ...again]);
  });

  test("a host that was started with flags of its own keeps them", () => {
    vi.spyOn(process, "execArgv", "get").mockReturnValue(["--liftoff-only", "--no-wasm-tier-up"]);
    hostModule(looping(), null);
    expect(set).toEqual([]);
  });
});
