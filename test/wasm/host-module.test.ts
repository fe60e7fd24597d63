import { setFlagsFromString } from "node:v8";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hostModule, ModuleWriter, wasm } from "../../src/wasm/index.ts";

/** Larger than V8 may optimize. */

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
    expect(await staysAsItBegan(runOf(hostModule(looping(2), false)))).toBe(true);
    expect(await staysAsItBegan(runOf(hostModule(looping(4), true)))).toBe(false);
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
    expect(runOf(hostModule(looping(), true))(5)).toBe(0);
    expect(set).toEqual([]);
    expect(runOf(hostModule(looping(), false))(5)).toBe(0);
    expect(set).toEqual([...without, ...again]);
  });

  test("they are reset even if the module is invalid", () => {
    expect(() => hostModule(new Uint8Array(8), false)).toThrow(WebAssembly.CompileError);
    expect(set).toEqual([...without, ...again]);
  });

  test("a host that was started with flags of its own keeps them", () => {
    vi.spyOn(process, "execArgv", "get").mockReturnValue(["--liftoff-only", "--no-wasm-tier-up"]);
    hostModule(looping(), false);
    expect(set).toEqual([]);
  });
});
