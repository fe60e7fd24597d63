import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

// `x | c` is `x + c` if c has bits only where x has none; only then.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n];\n";

/** Whether the last instruction of line 1 has become a sum. */
function isSum(line: string): boolean {
  const code = new Analysed(`${begin}${line}\nret;`);
  const { op } = code.code.instructions[code.at(1).at(-1)!]!;
  const value = op.kind === "pure" ? op.values[0]! : null;
  return value?.kind === "prim" && /\.add$/.test(value.prim);
}

test.each([
  ["two times a number, or 1", "shl.b32 %r1, %r0, 1; or.b32 %r2, %r1, 1;", true],
  ["the constant first", "shl.b32 %r1, %r0, 1; or.b32 %r2, 1, %r1;", true],
  ["bits that the shift leaves", "shl.b32 %r1, %r0, 1; or.b32 %r2, %r1, 2;", false],
  ["a multiple of 12: of 4, but not of 8", "mul.lo.u32 %r1, %r0, 12; or.b32 %r2, %r1, 3;", true],
  ["one bit more", "mul.lo.u32 %r1, %r0, 12; or.b32 %r2, %r1, 7;", false],
  ["a sum has the zeros that both terms have", "shl.b32 %r1, %r0, 3; add.u32 %r1, %r1, 4; or.b32 %r2, %r1, 3;", true],
  ["and no more", "shl.b32 %r1, %r0, 3; add.u32 %r1, %r1, 4; or.b32 %r2, %r1, 4;", false],
  ["an extended multiple", "mul.wide.u32 %x1, %r0, 8; or.b64 %x2, %x1, 7;", true],
  ["what is not known", "or.b32 %r2, %r0, 1;", false],
  ["a negative constant", "shl.b32 %r1, %r0, 1; or.b32 %r2, %r1, -1;", false],
])("%s", (_, line, sum) => {
  expect(isSum(line)).toBe(sum);
});

test("a register that is written twice is not known", () => {
  const code = new Analysed(`${begin}shl.b32 %r1, %r0, 1;
LOOP: or.b32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, %s0;
@%p0 bra LOOP;
ret;`);
  const { op } = code.instruction(2);
  expect(op.kind === "pure" && op.values[0]!.kind === "prim" && op.values[0]!.prim).toBe("i32.or");
});
