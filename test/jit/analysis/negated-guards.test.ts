import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

// A guard that asks for the negation of a predicate asks for the predicate itself.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; setp.lt.u32 %p0, %r0, %s0; setp.gt.u32 %p1, %r0, 3;\n";

/** The guard of the first instruction of a line, as it is written. */
function guardAt(body: string, line: number): string {
  const { code, at } = analysed(body);
  const { guard } = code.instructions[at(line)[0]!]!;
  return guard === null ? "" : `@${guard.negate ? "!" : ""}${code.ir.registers[guard.register]!.name}`;
}

function analysed(body: string) {
  const found = new Analysed(`${begin}${body}`);
  return { code: found.code, at: (line: number) => found.at(line) };
}

const store = "@%p3 st.global.u32 [%x0], %r0;\n@!%p3 st.global.u32 [%x0], %s0;\nret;";

test("both kinds of guards", () => {
  const body = `and.pred %p2, %p0, %p1; not.pred %p3, %p2;\n${store}`;
  expect([guardAt(body, 2), guardAt(body, 3)]).toEqual(["@!%p2", "@%p2"]);
});

test.each([
  [
    "that is negated in another block",
    "and.pred %p2, %p0, %p1; @%p1 bra L; st.global.u32 [%x0], 1; L: not.pred %p3, %p2;",
  ],
  ["that is written for some lanes", "setp.eq.u32 %p2, %r0, 1; @%p1 not.pred %p3, %p2;"],
  [
    "whose register is used again",
    "and.pred %p2, %p0, %p1; not.pred %p3, %p2; @%p1 setp.eq.u32 %p2, %r0, 5; @%p2 exit;",
  ],
])("a predicate %s", (_, line) => {
  expect(guardAt(`${line}\n${store}`, 2)).toBe("@%p3");
});

// In each round the store comes after the next value of %p2, and before that of %p3.
test("a negation that is read before it is computed anew", () => {
  const body = `mov.u32 %r1, 0; setp.ne.u32 %p3, %r0, 0;
L: add.u32 %r1, %r1, 1; setp.gt.u32 %p2, %r1, %r0;
@%p3 st.global.u32 [%x0], %r1;
not.pred %p3, %p2; setp.lt.u32 %p4, %r1, %s0; @%p4 bra L;
ret;`;
  expect(guardAt(body, 3)).toBe("@%p3");
});
