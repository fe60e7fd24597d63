import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

// A variable of type bool is a number to compilers, 0 or 1. Where it is only compared with these it is a predicate;
// what is anything else somewhere, or is read as a number, stays one.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; setp.lt.u32 %p0, %r0, %s0; setp.gt.u32 %p1, %r0, 3;\n";
const end = "@%p2 st.global.u32 [%x0], %r0; @%p0 st.global.u32 [%x0], %s0; @%p1 st.global.u32 [%x0], 1;\nret;";

/** Whether `%r1` is a predicate, by the instructions that write it. */
function isPredicate(body: string): boolean {
  const { code } = new Analysed(`${begin}${body}\n${end}`);
  const registers = code.ir.registers.filter(({ name }) => name === "%r1" || name.startsWith("%r1'"));
  const kinds = new Set(registers.map((r) => r.class));
  expect(kinds.size, "all that has become of it is of one kind").toBe(1);
  return kinds.has("pred");
}

const set = "mov.u32 %r1, 0; @%p0 mov.u32 %r1, 1;";

test.each([
  ["compared with 0", `${set} setp.ne.u32 %p2, %r1, 0;`],
  ["compared with 1", `${set} setp.eq.u32 %p2, %r1, 1;`],
  ["its low bits are compared", `${set} and.b32 %r2, %r1, 255; setp.eq.u32 %p2, %r2, 0;`],
  ["copied, and then compared", `${set} mov.u32 %r2, %r1; @%p1 mov.u32 %r2, 1; setp.ne.u32 %p2, %r2, 0;`],
  ["chosen by a condition", `mov.u32 %r1, 0; @%p1 selp.u32 %r1, 1, 0, %p0; setp.ne.u32 %p2, %r1, 0;`],
  ["both of two", `${set} mov.u32 %r2, 1; @%p1 mov.u32 %r2, 0; and.b32 %r3, %r1, %r2; setp.ne.u32 %p2, %r3, 0;`],
  [
    "in a loop",
    `mov.u32 %r1, 0; mov.u32 %r2, 0; L: @%p0 mov.u32 %r1, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, %s0; @%p3 bra L; setp.ne.u32 %p2, %r1, 0;`,
  ],
])("%s: a predicate", (_, body) => {
  expect(isPredicate(body)).toBe(true);
});

test.each([
  ["something else is written", `${set} @%p1 mov.u32 %r1, 2; setp.ne.u32 %p2, %r1, 0;`],
  ["a sum is written", `${set} @%p1 add.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0;`],
  ["it is stored", `${set} setp.ne.u32 %p2, %r1, 0; st.global.u32 [%x0], %r1;`],
  ["it is added", `${set} setp.ne.u32 %p2, %r1, 0; add.u32 %r2, %r1, %r0; st.global.u32 [%x0], %r2;`],
  ["it is compared with 2", `${set} setp.ne.u32 %p2, %r1, 2;`],
  ["it is compared by order", `${set} setp.lt.u32 %p2, %r1, 1;`],
  [
    "a copy of it is stored",
    `${set} mov.u32 %r2, %r1; @%p1 mov.u32 %r2, 1; setp.ne.u32 %p2, %r1, 0; st.global.u32 [%x0], %r2;`,
  ],
  [
    "it is chosen by itself as a number",
    `${set} setp.ne.u32 %p2, %r1, 0; selp.u32 %r2, %r1, %r0, %p0; st.global.u32 [%x0], %r2;`,
  ],
  ["it is loaded", `${set} @%p1 ld.global.u32 %r1, [%x0]; setp.ne.u32 %p2, %r1, 0;`],
  ["nothing compares it", `${set} setp.ne.u32 %p2, %s0, 0; st.global.u32 [%x0], %r1;`],
])("%s: a number", (_, body) => {
  expect(isPredicate(body)).toBe(false);
});
