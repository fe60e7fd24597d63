import { describe, expect, test } from "vitest";
import { optimizingTime } from "../../src/wasm/merge-count.ts";
import { ModuleWriter, wasm } from "../../src/wasm/index.ts";

/** What a function whose body is written by `write` merges; it has three locals. */
function mergesOf(write: (f: ReturnType<ModuleWriter["function"]>, locals: readonly number[]) => void) {
  const f = new ModuleWriter().function("f", [], []);
  const locals = [f.local("i32"), f.local("i32"), f.local("i32")];
  write(f, locals);
  const { values, labels, loops } = f.finish().merges;
  return { values, labels, loops };
}

describe("values that are merged", () => {
  test("none where control goes one way", () => {
    expect(mergesOf((f, [a]) => f.assign([{ local: a!, value: wasm.i32(1) }]))).toEqual({
      values: 0,
      labels: 0,
      loops: 0,
    });
  });

  test("each local that a condition may assign", () => {
    const merges = mergesOf((f, [a, b]) => {
      f.i32(1);
      f.if(() => {
        f.assign([a!, b!].map((local) => ({ local, value: wasm.i32(1) })));
      });
    });
    expect(merges).toEqual({ values: 2, labels: 1, loops: 0 });
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
    expect(merges).toEqual({ values: 6 * 3, labels: 1, loops: 0 });
  });

  test("loops are counted", () => {
    const merges = mergesOf((f) => {
      f.loop((again) => {
        f.i32(0);
        f.brIf(again);
      });
    });
    expect(merges).toEqual({ values: 0, labels: 1, loops: 1 });
  });

  test("a function that merges too many values, has too many labels or is too long is not to be optimized", () => {
    const small = { size: 1000, merges: { values: 100, labels: 10, loops: 1 } };
    expect(optimizingTime(small)).toBeLessThan(5);
    expect(optimizingTime({ ...small, size: 1.5 * 2 ** 20 })).toBe(null);
    expect(optimizingTime({ ...small, size: 700_000 })).toBeGreaterThan(100);
    // As kernels of other projects are, of which V8 needs 1.4 and 3.8 s for the functions.
    expect(optimizingTime({ size: 805_000, merges: { values: 790_000, labels: 1065, loops: 15 } })).not.toBe(null);
    expect(optimizingTime({ size: 1_144_000, merges: { values: 400_000, labels: 5007, loops: 13 } })).not.toBe(null);
    expect(optimizingTime({ size: 500_000, merges: { ...small.merges, values: 1_000_000 } })).not.toBe(null);
    expect(optimizingTime({ size: 700_000, merges: { ...small.merges, values: 1_000_000 } })).toBe(null);
    expect(optimizingTime({ ...small, merges: { ...small.merges, values: 2e6 } })).toBe(null);
    expect(optimizingTime({ ...small, merges: { ...small.merges, labels: 20_000 } })).toBe(null);
    expect(optimizingTime({ ...small, merges: { ...small.merges, loops: 6000 } })).toBe(null);
  });
});
