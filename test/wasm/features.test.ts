import { describe, expect, test } from "vitest";
import { fma64 } from "../../src/numeric/binary64.ts";
import { machineFeatures, maddCases } from "../../src/wasm/features.ts";
import { Exact, type Format, nearest } from "../numeric/exact.ts";

const view = new DataView(new ArrayBuffer(8));
const single: Format = { exponent: 8, fraction: 23 };

describe("the cases that detect a fused multiply-add", () => {
  test.each(maddCases.f32.filter(([, , c]) => Number.isFinite(c)))("binary32: %d * %d + %d is %d", (a, b, c, sum) => {
    for (const operand of [a, b, c]) expect(Math.fround(operand)).toBe(operand);
    const [x, y, z] = [a, b, c].map(Exact.of) as [Exact, Exact, Exact];
    const pattern = nearest(new Exact(x.n * y.n * z.d + z.n * x.d * y.d, x.d * y.d * z.d), single, "rn");
    expect(sum).toBe((view.setUint32(0, pattern), view.getFloat32(0)));
  });

  test.each(maddCases.f64)("binary64: %d * %d + %d is %d", (a, b, c, sum) => {
    expect(sum).toBe(fma64(a, b, c, "rn"));
  });

  test("some cases detect a rounded product, some an intermediate rounding to binary64", () => {
    const wrong = (inexact: (a: number, b: number, c: number) => number, ty: "f32" | "f64") =>
      maddCases[ty].filter(([a, b, c, sum]) => !Object.is(inexact(a, b, c), sum)).length;
    expect(wrong((a, b, c) => Math.fround(Math.fround(a * b) + c), "f32")).toBeGreaterThanOrEqual(7);
    expect(wrong((a, b, c) => Math.fround(a * b + c), "f32")).toBeGreaterThanOrEqual(2);
    expect(wrong((a, b, c) => a * b + c, "f64")).toBeGreaterThanOrEqual(6);
  });
});

test("features are detected once", () => {
  expect(machineFeatures()).toBe(machineFeatures());
});
