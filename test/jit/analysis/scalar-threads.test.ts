import { describe, expect, test } from "vitest";
import { canRunAlone, isFasterAlone } from "../../../src/jit/compile/analysis/scalar-threads.ts";
import { Analysed } from "./analysed.ts";

const kernel = (body: string) => {
  const start = "ld.param.u64 %x0, [x]; mov.u32 %r0, %tid.x; mad.wide.u32 %x1, %r0, 4, %x0; ld.global.u32 %r1, [%x1];";
  return new Analysed(`${start}\n${body}\nst.global.u32 [%x1], %r1; ret;`).code.ir;
};

/** Repeats instructions as often as the loaded word of each thread says. */
const repeated = (body: string, count = "%r1"): string =>
  `mov.u32 %r9, 0; cvt.u64.u32 %x2, %r1; mov.u64 %x3, %x2;
LOOP: ${body} add.u32 %r9, %r9, 1; setp.lt.u32 %p0, %r9, ${count}; @%p0 bra LOOP; cvt.u32.u64 %r1, %x2;`;

const products = "mul.lo.u64 %x2, %x2, %x3; xor.b64 %x2, %x2, %x3; mul.lo.u64 %x3, %x3, %x2;";

describe("threads are faster one by one", () => {
  test.each([
    ["where lanes leave a loop of wide products at different times", repeated(products), true],
    ["not where they all leave it together", repeated(products, "100"), false],
    ["where quotients are computed lane by lane", repeated("rem.u64 %x4, %x3, %x2; add.u64 %x2, %x4, 1;"), true],
    [
      "not where vectors do what loops do",
      repeated("cvt.rn.f32.u32 %f0, %r9; fma.rn.f32 %f1, %f0, %f1, %f0; cvt.rzi.u32.f32 %r2, %f1;"),
      false,
    ],
    ["not for words of memory, of which many are waited for at once", repeated("ld.global.u32 %r2, [%x3];"), false],
    ["not without a loop", products, false],
  ])("%s", (_, body, expected) => {
    expect(isFasterAlone(kernel(body))).toBe(expected);
  });
});

describe("threads run alone", () => {
  test.each([
    ["that compute and access memory", "ld.global.u32 %r2, [%x1]; add.u32 %r1, %r1, %r2;", true],
    ["but not those that wait", "bar.sync 0;", false],
    ["or count together", "red.global.add.u32 [%x0], 1;", false],
    ["or see what others are about", "ld.volatile.global.u32 %r2, [%x0];", false],
    ["or ask which lanes are there", "activemask.b32 %r2;", false],
  ])("%s", (_, body, expected) => {
    expect(canRunAlone(kernel(body))).toBe(expected);
  });
});
