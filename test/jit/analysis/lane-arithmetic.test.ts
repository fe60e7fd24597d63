import { expect, test } from "vitest";
import { LaneArithmetic } from "../../../src/jit/compile/analysis/values/lane-arithmetic.ts";
import { Analysed } from "./analysed.ts";

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x]; mad.wide.u32 %x1, %r0, 4, %x0;\n";

test.each([
  ["a permutation of lane numbers", "xor.b32 %r1, %r0, 5;", true],
  ["one by a parameter", "xor.b32 %r1, %r0, %s0;", true],
  ["what all lanes load from one place", "ld.global.u32 %r2, [%x0]; xor.b32 %r1, %r0, %r2;", true],
  ["what each lane loads", "ld.global.u32 %r1, [%x1];", false],
  ["what is computed from that", "ld.global.u32 %r2, [%x1]; and.b32 %r3, %r2, 3; add.u32 %r1, %r0, %r3;", false],
])("%s", (_, line, isArithmetic) => {
  const code = new Analysed(`${begin}${line}\nret;`);
  expect(new LaneArithmetic(code.analysis).is(code.register("%r1"))).toBe(isArithmetic);
});

test("what is loaded in one round may be an operand in the next", () => {
  const code = new Analysed(`${begin}mov.u32 %r1, %r0;
LOOP: xor.b32 %r2, %r1, 1;
ld.global.u32 %r1, [%x1];
setp.lt.u32 %p0, %s0, 5;
@%p0 bra LOOP;
ret;`);
  expect(new LaneArithmetic(code.analysis).is(code.register("%r2"))).toBe(false);
});

test.each([
  ["a neighbour's number, clamped", "max.s32 %r1, %r0, %s0;", true],
  ["what is computed from that", "min.s32 %r2, %r0, %s0; shl.b32 %r1, %r2, 2;", true],
  ["a permutation", "xor.b32 %r1, %r0, 5;", false],
  ["what has been loaded, clamped", "ld.global.u32 %r2, [%x1]; max.s32 %r1, %r2, %s0;", false],
])("bent: %s", (_, line, isBent) => {
  const code = new Analysed(`${begin}${line}\nret;`);
  expect(new LaneArithmetic(code.analysis).isBent(code.register("%r1"))).toBe(isBent);
});
