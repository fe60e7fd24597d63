import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

const loop = (bound: string, after = "st.global.u32 [%x0], %r1;"): Analysed =>
  new Analysed(`ld.param.u64 %x0, [x]; ld.param.u32 %s0, [n]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;
LOOP: add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, ${bound};
@%p0 bra LOOP;
${after}
ret;`);

test("lanes that leave a loop at different times copy what they leave with", () => {
  const { code, ...analysed } = withCode(loop("%r0"));
  expect(analysed.copies).toHaveLength(1);
  const { op, dst, guard } = code.instructions[analysed.copies[0]!]!;
  // From the register inside of the loop to that outside, for the lanes that do not go back.
  const inside = code.instructions[analysed.at(1)[0]!]!.dst[0];
  expect(op.kind === "pure" && op.values[0]).toEqual({ kind: "reg", ty: "i32", reg: inside });
  expect(dst[0]).not.toBe(inside);
  const back = code.instructions[analysed.at(3).at(-1)!]!.guard!;
  expect(guard).toEqual({ ...back, negate: !back.negate });
});

test("lanes that leave together copy nothing", () => {
  expect(withCode(loop("%s0")).copies).toEqual([]);
});

test("what nothing reads after the loop is not copied", () => {
  expect(withCode(loop("%r0", "")).copies).toEqual([]);
});

function withCode(analysed: Analysed) {
  const { code } = analysed;
  return { code, copies: [...code.edgeCopies], at: (line: number) => analysed.at(line) };
}
