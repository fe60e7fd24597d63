import { expect, test } from "vitest";
import { Analysed, oneRow } from "./analysed.ts";

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n];\n";

/** The value that the last instruction of a line computes. */
function valueIn(body: string, line: number, shape = oneRow): string {
  const code = new Analysed(`${begin}${body}\nret;`, shape);
  const { op } = code.code.instructions[code.at(line).at(-1)!]!;
  return op.kind === "pure" ? code.text(op.values[0]!) : op.kind;
}

test("a register that holds nothing but a constant is that constant", () => {
  expect(valueIn("mov.u32 %r1, 5; add.u32 %r2, %r0, %r1;", 1)).toBe("%r0 + 5");
});

test("and what follows from constants alone is one", () => {
  expect(valueIn("mov.u32 %r1, 5; add.u32 %r2, %r1, 3; shl.b32 %r3, %r2, 1;", 1)).toBe("16");
});

test("a register that is a constant under a guard is not", () => {
  expect(valueIn("setp.eq.u32 %p0, %s0, 0;\n@%p0 mov.u32 %r1, 5;\nadd.u32 %r2, %r0, %r1;", 3)).toBe("%r0 + %r1");
});

test("a narrow register keeps the low bits of its constant", () => {
  expect(valueIn("mov.u16 %h1, -1; cvt.u32.u16 %r1, %h1; add.u32 %r2, %r0, %r1;", 1)).toBe("%r0 + 0xffff");
});

const index = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0;\n";

test.each([
  ["quotient", "shr.s32 %r4, %r3, 31; shr.u32 %r5, %r4, 27; add.s32 %r6, %r3, %r5;", "%r3"],
  ["quotient of an instruction", "div.s32 %r4, %r3, 32;", "%r3 >>> 5"],
  ["remainder", "rem.s32 %r4, %r3, 32;", "%r3 & 31"],
])("a global index has no sign, in grids of not too many blocks: %s", (_, body, without) => {
  // 2^21 blocks of 1024 threads have the numbers 0 to 2^31 - 1.
  expect(valueIn(`${index}${body}`, 2, { ...oneRow, indexed: true })).toBe(without);
  expect(valueIn(`${index}${body}`, 2)).not.toBe(without);
});

test("what may be more than 2^31 - 1 has one", () => {
  const body = "add.u32 %r3, %r3, 1;\nshr.s32 %r4, %r3, 31;";
  expect(valueIn(`${index}${body}`, 3, { ...oneRow, indexed: true })).toBe("%r3 >> 31");
});

test.each([
  ["mov.u32 %r1, WARP_SZ; div.u32 %r2, %r0, %r1;", "%r0 >>> 5"],
  ["rem.u32 %r2, %r0, 64;", "%r0 & 63"],
  ["div.u32 %r2, %r0, 0x80000000;", "%r0 >>> 31"],
  ["div.u32 %r2, %r0, 24;", "div_u.i32(%r0, 24)"],
])("unsigned division by a power of two is a shift or a mask: %s", (body, value) => {
  expect(valueIn(body, 1)).toBe(value);
});

test("sums with 0 are left out", () => {
  expect(valueIn("add.u32 %r1, %r0, 0;", 1)).toBe("%r0");
});

test("a name that holds values with nothing in common stands for several registers", () => {
  const code = new Analysed(
    `${begin}mov.u32 %r1, %r0; add.u32 %r2, %r1, 1;\nmov.u32 %r1, %s0; add.u32 %r3, %r1, 1;\nret;`,
  );
  const [first, second] = [1, 2].map((line) => code.instruction(line).dst[0] as number);
  expect(first).not.toBe(second);
  expect(code.analysis.register(first!).kind).toBe("affine");
  expect(code.analysis.register(second!).kind).toBe("uniform");
});

test("one whose values reach the same read stands for one", () => {
  const code = new Analysed(`${begin}mov.u32 %r1, %r0;
setp.eq.u32 %p0, %s0, 0;
@%p0 mov.u32 %r1, 1;
add.u32 %r2, %r1, 1;
ret;`);
  expect(code.instruction(1).dst).toEqual(code.instruction(3).dst);
});

test("blocks begin where lanes may wait for others", () => {
  const code = new Analysed(`${begin}add.u32 %r1, %r0, 1;
bar.warp.sync 0xffffffff;
add.u32 %r2, %r1, 1;
ret;`);
  expect([1, 2, 3].map((line) => code.blockOf(line))).toEqual([0, 1, 2]);
});
