import { expect, test } from "vitest";
import { waitMaskIntervals, waitMaskSlots } from "../../../src/jit/compile/analysis/flow/wait-mask-coloring.ts";
import { Analysed } from "./analysed.ts";

// Two divergent branches one after the other, whose lanes wait at A and at B: never at both at once.
const code = new Analysed(`mov.u32 %r0, %tid.x; ld.param.u64 %x0, [x]; setp.lt.u32 %p0, %r0, 5; setp.gt.u32 %p1, %r0, 9;
@%p0 bra A;
st.global.u32 [%x0], %r0;
A: add.u32 %r0, %r0, 1;
@%p1 bra B;
st.global.u32 [%x0], %r0;
B: st.global.u32 [%x0], 0;
ret;`);
const [a, b] = [code.blockOf(3), code.blockOf(6)];

test("lanes wait from the branch that sends them on to the block where they are met", () => {
  const intervals = waitMaskIntervals(code.analysis, [a, b], new Set())!;
  expect(intervals.get(a)).toEqual({ from: code.blockOf(1), to: a });
  expect(intervals.get(b)).toEqual({ from: code.blockOf(4), to: b });
});

test("one mask per block serves where lanes are at both at different times", () => {
  // The block of A ends with the second branch: there both masks are needed.
  expect(code.blockOf(4)).toBe(a);
  const slots = waitMaskSlots(code.analysis, [a, b], new Set());
  expect(slots.get(a)).not.toBe(slots.get(b));
});

test("blocks at which lanes may wait at any time have masks of their own", () => {
  const slots = waitMaskSlots(code.analysis, [a, b], new Set([a, b]));
  expect(new Set(slots.values()).size).toBe(2);
});

test("masks are shared where a block lies between", () => {
  const apart =
    new Analysed(`mov.u32 %r0, %tid.x; ld.param.u64 %x0, [x]; setp.lt.u32 %p0, %r0, 5; setp.gt.u32 %p1, %r0, 9;
@%p0 bra A;
st.global.u32 [%x0], %r0;
A: setp.eq.u32 %p2, %r0, 77;
bra C;
C: @%p1 bra B;
st.global.u32 [%x0], %r0;
B: st.global.u32 [%x0], 0;
ret;`);
  const slots = waitMaskSlots(apart.analysis, [apart.blockOf(3), apart.blockOf(7)], new Set());
  expect(new Set(slots.values()).size).toBe(1);
});
