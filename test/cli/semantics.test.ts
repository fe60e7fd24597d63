import { expect, test } from "vitest";
import { describeSemantics, opcodesOf } from "../../src/ptx/isa/describe.ts";
import { instructionSet } from "../../src/ptx/isa/index.ts";

const meaning = (opcode: string) => describeSemantics(instructionSet.resolve(opcode).candidates[0]!);

test.each([
  ["add.u32", ["d = a + b"]],
  ["mad.lo.s32", ["d = a * b + c"]],
  ["and.b32", ["d = a & b"]],
  ["setp.lt.u32", ["t1 = a <u b", "p = t1", "q = !t1"]],
  ["mul.wide.s32", ["d = sext(a) * sext(b)"]],
  ["lop3.b32", ["depends on the value of immLut"]],
  ["bra", ["control flow"]],
])("%s", (opcode, lines) => expect(meaning(opcode)).toEqual(lines));

test("the opcodes of a form are those that it takes", () => {
  for (const { forms } of instructionSet.instructions) {
    for (const form of forms) {
      for (const opcode of opcodesOf(form, 12)) {
        // Some choices exclude each other, which the notation does not show.
        const taken = instructionSet.resolve(opcode).candidates.some((c) => c.form === form);
        expect(taken || form.invalid !== null, opcode).toBe(true);
      }
    }
  }
});

test("every executable form can be put into words", () => {
  const silent: string[] = [];
  for (const { forms } of instructionSet.instructions) {
    for (const form of forms.filter((f) => f.unimplemented === null)) {
      for (const opcode of opcodesOf(form, 30)) {
        const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form);
        if (candidate && describeSemantics(candidate).length === 0) silent.push(opcode);
      }
    }
  }
  expect(silent).toEqual([]);
});
