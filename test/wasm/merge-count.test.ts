import { describe, expect, test } from "vitest";
import { isOptimizable } from "../../src/wasm/merge-count.ts";
import { ModuleWriter, wasm } from "../../src/wasm/index.ts";

/** What a function whose body is written by `write` merges; it has three locals. */
function mergesOf(write: (f: ReturnType<ModuleWriter["function"]>, locals: readonly number[]) => void) {
  const f = new ModuleWriter().function("f", [], []);
  const locals = [f.local("i32"), f.local("i32"), f.local("i32")];
  write(f, locals);
  const { values, labels } = f.merges;
  return { values, labels };
}

describe("values that are merged", () => {
  test("none where control goes one way", () => {
    expect(mergesOf((f, [a]) => f.assign([{ local: a!, value: wasm.i32(1) }]))).toEqual({ values: 0, labels: 0 });
  });

  test("each local that a condition may assign", () => {
    const merges = mergesOf((f, [a, b]) => {
      f.i32(1);
      f.if(() => {
        f.assign([a!, b!].map((local) => ({ local, value: wasm.i32(1) })));
      });
    });
    expect(merges).toEqual({ values: 2, labels: 1 });
  });

  test("no more than there are locals, for each way to the end of a block", () => {
    const merges = mergesOf((f, locals) => {
      f.block((end) => {
        for (let i = 0; i < 5; i++) {
          f.assign(locals.map((local) => ({ local, value: wasm.i32(i) })));
          f.i32(1);
          f.brIf(end);
        }
      });
    });
    expect(merges).toEqual({ values: 6 * 3, labels: 1 });
  });

  test("a function that merges too many values, has too many labels or is too long is not to be optimized", () => {
    const small = { size: 1000, merges: { values: 100, labels: 10 } };
    expect(isOptimizable(small)).toBe(true);
    expect(isOptimizable({ ...small, size: 2 ** 20 })).toBe(false);
    expect(isOptimizable({ ...small, size: 700_000 })).toBe(true);
    expect(isOptimizable({ size: 700_000, merges: { values: 400_000, labels: 10 } })).toBe(false);
    expect(isOptimizable({ ...small, merges: { values: 2e6, labels: 10 } })).toBe(false);
    expect(isOptimizable({ ...small, merges: { values: 100, labels: 20_000 } })).toBe(false);
  });
});
