import { expect, test } from "vitest";
import { branchConditionOf } from "../../../src/jit/compile/analysis/flow/branch-condition.ts";
import { Analysed } from "./analysed.ts";

// Instructions that do nothing but decide about the branch in line 2.

const begin =
  "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x]; ld.global.u32 %r5, [%x0]; setp.eq.u32 %p3, %s0, 0;\n";

/** By instruction of line 1, whether it belongs to the condition; null where there is none. */
function conditionOf(line: string, after = "", fixed = false, branch = "@%p0 bra END;"): readonly boolean[] | null {
  const code = new Analysed(`${begin}${line}\n${branch}\nst.global.u32 [%x0], %r0;\nEND: ${after}\nret;`);
  const block = code.blockOf(2);
  const { end } = code.code.graph.blocks[block]!;
  const found = branchConditionOf(code.analysis, new Map(), block, end - 1, () => fixed);
  return found && code.at(1).map((i) => found.instructions.includes(i));
}

test.each([
  ["a comparison", "setp.lt.u32 %p0, %r5, %s0;", [true]],
  ["two of them", "setp.lt.u32 %p1, %r5, 3; setp.gt.u32 %p2, %r5, 9; or.pred %p0, %p1, %p2;", [true, true, true]],
  ["not the number that is compared", "add.u32 %r1, %r5, 1; setp.lt.u32 %p0, %r1, %s0;", [false, true]],
])("%s", (_, line, condition) => {
  expect(conditionOf(line)).toEqual(condition);
});

test("what something else reads has to be computed in any case", () => {
  const after = "@%p0 st.global.u32 [%x0], %s0;";
  expect(conditionOf("setp.lt.u32 %p0, %r5, %s0;", after)).toBeNull();
});

test("an operand that changes before the branch is no longer what was compared", () => {
  expect(conditionOf("setp.lt.u32 %p0, %r5, %s0; @%p3 add.u32 %r5, %r5, 1;", "st.global.u32 [%x0], %r5;")).toBeNull();
});

test("what is executed elsewhere is not part of it", () => {
  expect(conditionOf("setp.lt.u32 %p0, %r5, %s0;", "", true)).toBeNull();
});

test("a branch without a condition has none", () => {
  expect(conditionOf("setp.lt.u32 %p0, %r5, %s0;", "", false, "bra END;")).toBeNull();
});
