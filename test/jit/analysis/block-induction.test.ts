import { laneAddressOf } from "../../../src/ir/index.ts";
import { expect, test } from "vitest";
import { BlockInduction } from "../../../src/jit/compile/analysis/values/block-induction.ts";
import { Analysed } from "./analysed.ts";

// The step from round to round of the address that the loop, one block, loads from. Line 0 is before it.

function stepOf(body: string): string | null {
  const code = new Analysed(`ld.param.u64 %x0, [x]; ld.param.u32 %s0, [n]; mov.u32 %r1, 0;
LOOP: ${body}
setp.lt.u32 %p0, %r1, %s0;
@%p0 bra LOOP;
st.global.u32 [%x0], %r1; st.global.u32 [%x1], %r3; ret;`);
  const { graph, instructions, ir } = code.code;
  const { start, end } = graph.blocks[code.blockOf(2)]!;
  const at = instructions.findIndex(({ op }, i) => i >= start && op.kind === "load");
  const { op } = instructions[at]!;
  if (op.kind !== "load") throw new Error("no load");
  const induction = new BlockInduction(ir, instructions.slice(start, end));
  const early = induction.early(laneAddressOf(op.place), at - start);
  const step = early && induction.step(early);
  return step && code.text(step);
}

test.each([
  ["a pointer that moves on by 4", "add.u64 %x0, %x0, 4; ld.global.u32 %r3, [%x0]; add.u32 %r1, %r1, 1;", "4"],
  ["one that moves back", "ld.global.u32 %r3, [%x0]; sub.u64 %x0, %x0, 8; add.u32 %r1, %r1, 1;", "-8"],
  ["one that stays", "ld.global.u32 %r3, [%x0]; add.u32 %r1, %r1, 1;", "0"],
  // Two changes in one round add up; a multiple multiplies the step.
  ["two changes", "add.u64 %x0, %x0, 4; ld.global.u32 %r3, [%x0]; add.u64 %x0, %x0, 12; add.u32 %r1, %r1, 1;", "16"],
  [
    "a step that is a parameter",
    "cvt.u64.u32 %x2, %s0; ld.global.u32 %r3, [%x0]; add.u64 %x0, %x0, %x2; add.u32 %r1, %r1, 1;",
    "0 + zext(%s0)",
  ],
  // extend(i + 1) is extend(i) + 1 only where i does not wrap around.
  ["an index of 32 bits", "mad.wide.u32 %x1, %r1, 4, %x0; ld.global.u32 %r3, [%x1]; add.u32 %r1, %r1, 1;", null],
  ["a pointer that is doubled", "ld.global.u32 %r3, [%x0]; shl.b64 %x0, %x0, 1; add.u32 %r1, %r1, 1;", null],
  ["a list", "ld.global.u64 %x0, [%x0]; add.u32 %r1, %r1, 1; mov.u32 %r3, %r1;", null],
  [
    "a guarded step",
    "setp.eq.u32 %p1, %s0, 3; ld.global.u32 %r3, [%x0]; @%p1 add.u64 %x0, %x0, 4; add.u32 %r1, %r1, 1;",
    null,
  ],
])("%s", (_, body, step) => {
  expect(stepOf(body)).toBe(step);
});
