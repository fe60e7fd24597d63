import { expect, test } from "vitest";
import { deadInstructions } from "../../../src/jit/compile/analysis/code/dead-code.ts";
import { Analysed } from "./analysed.ts";

const begin = "ld.param.u64 %x0, [x]; ld.param.u32 %s0, [n];\n";

/** Whether each instruction of line 1 is dead. */
function deadIn(line: string, rest: string): readonly boolean[] {
  const code = new Analysed(`${begin}${line}\n${rest}\nret;`);
  const dead = deadInstructions(code.code);
  return code.at(1).map((i) => dead.has(i));
}

test.each([
  ["what is stored is alive", "add.u32 %r1, %s0, 1;", "st.global.u32 [%x0], %r1;", [false]],
  ["what nothing reads is dead", "add.u32 %r1, %s0, 1;", "", [true]],
  [
    "what is written again before it is read is dead",
    "add.u32 %r1, %s0, 1; mov.u32 %r1, %s0;",
    "st.global.u32 [%x0], %r1;",
    [true, false],
  ],
  ["a load has an effect: it may fault", "ld.global.u32 %r1, [%x0];", "", [false]],
  // Only what reads it is dead: one pass does not look through it.
  ["the operands of what is dead stay", "add.u32 %r1, %s0, 1; add.u32 %r2, %r1, 1;", "", [false, true]],
  [
    "what one of two ways reads is alive",
    "add.u32 %r1, %s0, 1; setp.eq.u32 %p0, %s0, 0; @%p0 bra END;",
    "st.global.u32 [%x0], %r1; END:",
    [false, false, false],
  ],
])("%s", (_, line, rest, dead) => {
  expect(deadIn(line, rest)).toEqual(dead);
});
