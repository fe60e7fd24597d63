import { expect, test } from "vitest";
import { GridStrides } from "../../../src/jit/compile/analysis/values/grid-strides.ts";
import { Analysed } from "./analysed.ts";

// Steps of 32-bit values per thread and per block. Registers are seen through: what is computed before a chunk begins
// is known down to special registers. Line 0 is `begin`.

const begin =
  "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x];\n";

function stridesOf(body: string, register: string): Readonly<Record<string, string>> | null {
  const code = new Analysed(`${begin}${body}\nret;`);
  const stride = new GridStrides(code.analysis, code.invariants).of(code.register(register));
  return stride && Object.fromEntries([...stride].map(([axis, step]) => [axis, code.text(step)]));
}

test.each([
  ["a parameter", "add.u32 %r3, %s0, 1;", "%r3", {}],
  ["the thread's number", "", "%r0", { "tid.x": "1" }],
  // The number of the thread in the grid: one more for the next thread, a block's size more for the next block.
  ["the thread in the grid", "mad.lo.u32 %r3, %r1, %r2, %r0;", "%r3", { "tid.x": "1", "ctaid.x": "1 * %r2" }],
  [
    "a thread of a plane",
    "mov.u32 %r4, %tid.y; mad.lo.u32 %r3, %r4, %s0, %r0;",
    "%r3",
    { "tid.x": "1", "tid.y": "1 * %s0" },
  ],
  ["what counts down", "sub.u32 %r3, %s0, %r0;", "%r3", { "tid.x": "-1" }],
  ["a shift", "shl.b32 %r3, %r0, 3;", "%r3", { "tid.x": "1 * 8" }],
  ["the low half of an address", "mad.wide.u32 %x1, %r0, 12, %x0; cvt.u32.u64 %r3, %x1;", "%r3", { "tid.x": "1 * 12" }],
  // A square, and bits of a number, do not grow evenly.
  ["a square", "mul.lo.u32 %r3, %r0, %r0;", "%r3", null],
  ["a warp's number", "shr.u32 %r3, %r0, 5;", "%r3", null],
  // 64 bits have no step: the index may wrap around before it is extended.
  ["an extension", "cvt.u64.u32 %x1, %r0;", "%x1", null],
  ["a clock", "mov.u32 %r3, %clock;", "%r3", null],
])("%s", (_, body, register, strides) => {
  expect(stridesOf(body, register)).toEqual(strides);
});

test.each([
  ["an element's address", "add.u32 %r3, %r0, 5; mad.wide.s32 %x1, %r3, 4, %x0;", "%r3"],
  ["an address that is the same", "add.u64 %x1, %x0, 4;", null],
  ["two indices", "cvt.u64.u32 %x1, %r0; cvt.u64.u32 %x2, %r1; add.u64 %x1, %x1, %x2;", null],
  ["an index that is taken away", "mul.wide.u32 %x2, %r0, 4; sub.u64 %x1, %x0, %x2;", null],
  ["a multiple that is not known", "cvt.u64.u32 %x2, %r0; mul.lo.u64 %x1, %x2, %x0;", null],
])("the index of %s", (_, body, index) => {
  const code = new Analysed(`${begin}${body}\nret;`);
  const found = new GridStrides(code.analysis, code.invariants).indexOf(code.register("%x1"));
  expect(found && code.text(found)).toBe(index);
});
