import { describe, expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

// For how long values stay the same, and which are computed beforehand. Line 0 is `begin`.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x];\n";

/** Where the instructions of line 1 are computed. */
function placesOf(line: string, rest = ""): readonly string[] {
  const code = new Analysed(`${begin}${line}\n${rest}\nst.global.u32 [%x0], %r1; ret;`);
  const { invariants } = code;
  return code
    .at(1)
    .map((i) => (["grid", "block", "chunk"] as const).find((at) => invariants[at].includes(i)) ?? "code");
}

test.each([
  ["a function of parameters, once for the grid", "add.u32 %r1, %s0, 1;", ["grid"]],
  ["the block's number, once for the block", "mov.u32 %r1, %ctaid.x;", ["block"]],
  ["the thread's number, once for the chunk", "add.u32 %r1, %r0, 1;", ["chunk"]],
  [
    "as long as the shortest of its operands",
    "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, %s0, %r0;",
    ["block", "chunk"],
  ],
  ["what is loaded from memory, in its place", "ld.global.u32 %r1, [%x0];", ["code"]],
  ["the time, in its place", "mov.u32 %r1, %clock;", ["code"]],
  // A vector takes a local for each four lanes, which costs more than to compute it again.
  ["a vector, in its place", "mul.lo.u32 %r1, %r0, %r0;", ["code"]],
])("%s", (_, line, places) => {
  expect(placesOf(line)).toEqual(places);
});

test.each([
  ["guarded", "setp.eq.u32 %p0, %s0, 5; @%p0 add.u32 %r1, %s0, 1;", "", ["grid", "code"]],
  ["written twice", "LOOP: add.u32 %r1, %r1, %s0;", "setp.lt.u32 %p0, %r1, 100;\n@%p0 bra LOOP;", ["code"]],
])("what is %s stays in its place", (_, line, rest, places) => {
  expect(placesOf(line, rest)).toEqual(places);
});

describe("a comparison of thread numbers", () => {
  const barrier = "bar.sync 0;\n@%p0 st.global.u32 [%x0], %r0;";

  test("that lanes need after a barrier is computed again where it is read", () => {
    const code = new Analysed(`${begin}setp.lt.u32 %p0, %r0, 5;\n${barrier}\nret;`);
    expect([...code.invariants.rematerialized.keys()]).toEqual([code.number("%p0")]);
  });

  test("is not, if what is compared has been loaded", () => {
    const code = new Analysed(`${begin}ld.global.u32 %r1, [%x0];\nsetp.lt.u32 %p0, %r0, %r1;\n${barrier}\nret;`);
    expect(code.invariants.rematerialized.size).toBe(0);
  });
});
