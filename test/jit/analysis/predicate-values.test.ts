import { expect, test } from "vitest";
import { printExpr } from "../../../src/semantics/index.ts";
import { Analysed } from "./analysed.ts";

// A number that stands for a condition, and is compared with a constant, is that condition again.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; setp.lt.u32 %p0, %r0, %s0; setp.gt.u32 %p1, %r0, 3;\n";

/** What the last instruction of line 1 writes. */
function last(line: string): string {
  const code = new Analysed(`${begin}${line}
@%p2 st.global.u32 [%x0], %r0; @%p0 st.global.u32 [%x0], %s0; @%p1 st.global.u32 [%x0], 1;
ret;`);
  const { op } = code.code.instructions[code.at(1).at(-1)!]!;
  if (op.kind !== "pure") throw new Error("it writes no value");
  const nameOf = (register: number): string => code.code.ir.registers[register]!.name;
  return printExpr(op.values[0]!, (leaf) => (leaf.kind === "reg" ? nameOf(leaf.reg) : leaf.kind));
}

test.each([
  ["1 or 0", "selp.u32 %r1, 1, 0, %p0; setp.ne.u32 %p2, %r1, 0;", "%p0"],
  ["the other way round", "selp.u32 %r1, 0, 1, %p0; setp.ne.u32 %p2, %r1, 0;", "!%p0"],
  ["compared with the other constant", "selp.u32 %r1, 5, 7, %p0; setp.eq.u32 %p2, %r1, 7;", "!%p0"],
  ["by order", "selp.s32 %r1, 5, -7, %p0; setp.lt.s32 %p2, %r1, 0;", "!%p0"],
  ["both of two", "selp.u32 %r1, 1, 0, %p0; selp.u32 %r2, %r1, 0, %p1; setp.ne.u32 %p2, %r2, 0;", "%p1 & %p0"],
  ["one of two", "selp.u32 %r1, 1, 0, %p0; selp.u32 %r2, 1, %r1, %p1; setp.ne.u32 %p2, %r2, 0;", "%p1 | %p0"],
  [
    "numbers put together",
    "selp.u32 %r1, -1, 0, %p0; selp.u32 %r2, -1, 0, %p1; and.b32 %r1, %r1, %r2; setp.ne.u32 %p2, %r1, 0;",
    "%p0 & %p1",
  ],
  ["a negated number", "selp.s32 %r1, -1, 0, %p0; neg.s32 %r2, %r1; setp.eq.s32 %p2, %r2, 1;", "%p0"],
  ["the same for both", "selp.u32 %r1, 3, 4, %p0; setp.gt.u32 %p2, %r1, 2;", "true"],
])("%s", (_, line, expected) => {
  expect(last(line)).toBe(expected);
});

test.each([
  ["a number that is none", "selp.u32 %r1, %s0, 0, %p0; setp.ne.u32 %p2, %r1, 0;"],
  ["a number that is read otherwise", "mov.u32 %r1, %s0; setp.ne.u32 %p2, %r1, 0;"],
  ["a number that changes", "selp.u32 %r1, 1, 0, %p0; @%p1 mov.u32 %r1, %s0; setp.ne.u32 %p2, %r1, 0;"],
  ["a number of some lanes", "@%p1 selp.u32 %r1, 5, 0, %p0; setp.ne.u32 %p2, %r1, 0;"],
])("%s stays", (_, line) => {
  expect(last(line)).toMatch(/[!=]= 0$/);
});

test("a condition that changes before the number is read", () => {
  const code = `selp.u32 %r1, 5, 0, %p0; @%p1 setp.eq.u32 %p0, %r0, 9; setp.ne.u32 %p2, %r1, 0;`;
  expect(last(code)).toMatch(/[!=]= 0$/);
});

test("numbers that nothing reads any more are left out, others are not", () => {
  const code = new Analysed(`${begin}selp.u32 %r1, 1, 0, %p0;
selp.u32 %r2, 1, 0, %p1;
setp.ne.u32 %p2, %r1, 0; setp.ne.u32 %p3, %r2, 0;
@%p2 st.global.u32 [%x0], %r0; @%p3 st.global.u32 [%x0], %r2;
ret;`);
  expect(code.instruction(1).op.kind).toBe("nothing");
  expect(code.instruction(2).op.kind).toBe("pure");
});
