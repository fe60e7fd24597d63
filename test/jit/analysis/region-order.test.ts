import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x]; mov.u32 %r1, 0;\n";

/** The lines of a body in the order in which the compiler has laid out their first instructions. */
function orderOf(body: string): readonly number[] {
  const kernel = new Analysed(begin + body);
  const lines = [...(begin + body).split("\n").keys()];
  return lines.filter((line) => kernel.at(line).length > 0).sort((a, b) => kernel.at(a)[0]! - kernel.at(b)[0]!);
}

test("what follows a barrier at the end of a loop comes before the loop's beginning, and its barrier last", () => {
  // The layout of nvcc: the end of the loop (lines 2 to 4) before its beginning (5).
  const body = `bra HEAD;
TAIL: bar.sync 0;
add.u32 %r1, %r1, 1;
st.global.u32 [%x0], %r1;
HEAD: setp.eq.u32 %p0, %r1, %s0; @%p0 bra DONE;
setp.gt.u32 %p1, %r0, %r1; @%p1 bra TAIL;
st.global.u32 [%x0+4], %r1; bra TAIL;
DONE: ret;`;
  expect(orderOf(body)).toEqual([0, 1, 3, 4, 5, 6, 7, 2, 8]);
});

test("a loop around a barrier begins with what follows the barrier", () => {
  const body = `HEAD: st.global.u32 [%x0], %r1;
bar.sync 0;
add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %s0; @%p0 bra HEAD;
ret;`;
  expect(orderOf(body)).toEqual([0, 3, 1, 2, 4]);
});

test("a loop without a barrier stays together, and straight code stays as it is", () => {
  const body = `bar.sync 0;
LOOP: add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, %s0; @%p0 bra LOOP;
bar.sync 0;
st.global.u32 [%x0], %r1;
ret;`;
  expect(orderOf(body)).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("a kernel whose first block is in a loop around a barrier stays as it is", () => {
  const kernel = new Analysed(`HEAD: mov.u32 %r1, %tid.x; ld.param.u32 %s0, [n];
bar.sync 0;
setp.lt.u32 %p0, %r1, %s0; @%p0 bra HEAD;
ret;`);
  const places = [0, 1, 2, 3].map((line) => kernel.at(line)[0]!);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test("the region after a barrier begins with its first block, and lanes come to its end together", () => {
  const kernel = new Analysed(`${begin}bra HEAD;
TAIL: bar.sync 0;
add.u32 %r1, %r1, 1;
HEAD: setp.eq.u32 %p0, %r1, %s0; @%p0 bra DONE;
setp.gt.u32 %p1, %r0, %r1; @%p1 bra TAIL;
st.global.u32 [%x0+4], %r0; bra TAIL;
DONE: ret;`);
  const { barriers } = kernel.pauses;
  expect([...barriers]).toEqual([[kernel.blockOf(2), kernel.blockOf(3)]]);
  expect(kernel.analysis.divergence.mayBePartial(kernel.blockOf(2))).toBe(false);
  // The count of rounds is the same for all lanes, although they come to the barrier on two ways.
  expect(kernel.analysis.register(kernel.number("%r1")).kind).toBe("uniform");
});

test.each([
  ["an old element is used", "atom.global.add.u32 %r3, [%x0], 1; st.global.u32 [%x0+8], %r3;"],
  ["lanes are asked which are active", "activemask.b32 %r3;"],
  ["numbers are added that order rounds otherwise", "red.global.add.f32 [%x0], %f0;"],
])("where %s, lanes take their turns as in the interpreter: the layout stays", (_, instruction) => {
  const body = `HEAD: st.global.u32 [%x0+4], %r1;
bar.sync 0;
add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %s0; ${instruction} @%p0 bra HEAD;
ret;`;
  expect(orderOf(body)).toEqual([0, 1, 2, 3, 4]);
});

test.each([["red.global.add.u32 [%x0], 1;"], ["atom.global.add.u32 %r3, [%x0], 1;"]])(
  "sums of integers are the same in any order: %s",
  (instruction) => {
    const body = `HEAD: st.global.u32 [%x0+4], %r1;
bar.sync 0;
add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %s0; ${instruction} @%p0 bra HEAD;
ret;`;
    expect(orderOf(body)).toEqual([0, 3, 1, 2, 4]);
  },
);
