import { expect, test } from "vitest";
import { rowStridesOf } from "../../../src/jit/compile/analysis/values/row-strides.ts";
import { Analysed, anyBlock } from "./analysed.ts";

// How values go on from chunk to chunk in a block of one row.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n];\n";

const strideOf = (body: string, register: string, shape?: typeof anyBlock) => {
  const code = new Analysed(`${begin}${body}\nret;`, shape);
  return rowStridesOf(code.analysis, code.invariants, () => false)(code.register(register));
};

test.each([
  ["a parameter", "add.u32 %r1, %s0, 1;", "%r1", "same"],
  ["the block's number", "mov.u32 %r1, %ctaid.y;", "%r1", "same"],
  ["the thread's number", "", "%r0", "linear"],
  ["a multiple of it", "mad.lo.u32 %r1, %r0, 12, %s0;", "%r1", "linear"],
  ["an element's place", "mul.wide.u32 %x1, %r0, 4;", "%x1", "linear"],
  ["what cancels", "sub.u32 %r1, %r0, %r0;", "%r1", "same"],
  // All of these are the same, or affine, within each chunk of 16 lanes: but not along the row.
  ["the chunk's number", "shr.u32 %r1, %r0, 4;", "%r1", "unknown"],
  ["the number within the chunk", "and.b32 %r1, %r0, 15;", "%r1", "unknown"],
  ["the lane's number in its warp", "mov.u32 %r1, %laneid;", "%r1", "unknown"],
  ["a multiple by a parameter", "mul.lo.u32 %r1, %r0, %s0;", "%r1", "unknown"],
])("%s", (_, body, register, stride) => {
  expect(strideOf(body, register)).toBe(stride);
});

test("nothing is known of threads in blocks that are not rows", () => {
  expect(strideOf("add.u32 %r1, %r0, 1;", "%r1", anyBlock)).toBe("unknown");
});
