import { expect, test } from "vitest";
import { machineFeatures, ModuleWriter } from "../../src/wasm/index.ts";
import { compilerForTests, whyNoMachineCode, widths } from "./native.ts";

/** Bytes of a value of four vectors. */
const valueBytes = 64;

/** Bytes from one stored vector to the next: they are no neighbours, which would be computed by themselves. */
const storeDistance = 32;

/**
 * A module whose function doubles the first two vectors of a value, which is loaded or comes from a call, and stores
 * them: nothing uses what it has of the others.
 */
function halfUsed(): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(machineFeatures());
  module.importMemory({ initial: 1, maximum: 1, shared: true });
  module.importFunction("giveUp", [], []);
  const vectors = [0, 1, 2, 3] as const;
  const loaded = module.function("loaded", ["i32"], ["v128", "v128", "v128", "v128"]);
  for (const i of vectors) {
    loaded.get(0);
    loaded.memory("v128.load", 16, valueBytes + 16 * i);
  }
  const run = module.function("run", ["i32", "i32", "i32"], ["i32"]);
  const value = vectors.map(() => run.local("v128"));
  const sums = vectors.map(() => run.local("v128"));
  const assign = (locals: readonly number[]): void => {
    for (const local of [...locals].reverse()) run.set(local);
  };
  run.get(1);
  run.if(
    () => {
      for (const i of vectors) {
        run.get(0);
        run.memory("v128.load", 16, 16 * i);
      }
      assign(value);
    },
    () => {
      run.get(0);
      run.call("loaded");
      assign(value);
    },
  );
  for (const local of value) {
    run.get(local);
    run.get(local);
    run.op("f32x4.add");
  }
  assign(sums);
  for (const i of [0, 1] as const) {
    run.get(0);
    run.get(sums[i]!);
    run.memory("v128.store", 16, 2 * valueBytes + storeDistance * i);
  }
  run.get(2);
  module.export("run");
  return module.finish();
}

const whyNot = whyNoMachineCode();

test.skipIf(whyNot !== null).each(widths)("vectors that nothing uses need not be computed %s", (width) => {
  const compiler = compilerForTests(width);
  const code = compiler.compile(halfUsed(), ["giveUp"]);
  if (typeof code === "string") throw new Error(code);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const words = new Float32Array(memory.buffer);
  for (let i = 0; i < valueBytes / 2; i++) words[i] = i + 0.5;
  const run = compiler.instance(code, memory, { giveUp: () => {} });
  for (const isLoaded of [1, 0]) {
    expect(run(0, isLoaded, 7)).toBe(7);
    const first = isLoaded === 1 ? 0 : valueBytes / 4;
    const stored = [...words.subarray(32, 36), ...words.subarray(40, 44)];
    expect(stored).toEqual(Array.from({ length: 8 }, (_, i) => 2 * (first + i + 0.5)));
  }
});
