import { expect, test } from "vitest";
import { NarrowRegisters } from "../../../src/jit/compile/analysis/values/narrow-registers.ts";
import { Analysed } from "./analysed.ts";

/** A thread's bytes of `x`, at %x0, and of `y`, at %x1; %r9 is its number. */
const begin = `ld.param.u64 %x0, [x]; ld.param.u64 %x1, [y];
mov.u32 %r9, %tid.x; cvt.u64.u32 %x2, %r9; add.s64 %x0, %x0, %x2; add.s64 %x1, %x1, %x2;
ld.global.u8 %h0, [%x0]; ld.global.u8 %h1, [%x0+64]; cvt.u32.u16 %r0, %h0; cvt.u32.u16 %r1, %h1;`;

/** How a register is kept: its bits, with a sign or not; `?`: only these are its value's; else `words`. */
function formOf(code: string, register: string): string {
  const kernel = new Analysed(`${begin}\n${code}\nret;`);
  const form = new NarrowRegisters(kernel.analysis, () => true).form(kernel.number(register));
  return form === null ? "words" : `${form.bits}${form.signed ? "s" : "u"}${form.isExact ? "" : "?"}`;
}

test.each([
  ["a byte that is copied", "st.global.u8 [%x1], %h0;", "%h0", "8u"],
  [
    "a byte that is used as a number of 32 bits alone",
    "cvt.rn.f32.u16 %f0, %h0; st.global.f32 [%x1], %f0;",
    "%h0",
    "words",
  ],
  ["the sum of two bytes", "add.s32 %r2, %r0, %r1; shr.u32 %r3, %r2, 1; st.global.u8 [%x1], %r3;", "%r2", "16u"],
  ["the half of it", "add.s32 %r2, %r0, %r1; shr.u32 %r3, %r2, 1; st.global.u8 [%x1], %r3;", "%r3", "8u"],
  ["a sum of which only a byte is stored", "add.s32 %r2, %r0, %r1; st.global.u8 [%x1], %r2;", "%r2", "8u?"],
  ["a difference", "sub.s32 %r2, %r0, %r1; abs.s32 %r3, %r2; st.global.u8 [%x1], %r3;", "%r2", "16s"],
  [
    "a product of which bits above 16 are observed",
    "mul.lo.s32 %r2, %r0, %r1; mul.lo.s32 %r3, %r2, %r0; shr.u32 %r4, %r3, 16; st.global.u8 [%x1], %r4;",
    "%r3",
    "words",
  ],
  [
    "a product of which bits up to 16 are observed",
    "mul.lo.s32 %r2, %r0, %r1; mul.lo.s32 %r3, %r2, %r0; shr.u32 %r4, %r3, 8; st.global.u8 [%x1], %r4;",
    "%r3",
    "16u?",
  ],
  ["a minimum", "min.s32 %r2, %r0, %r1; st.global.u8 [%x1], %r2;", "%r2", "8u"],
  [
    "a comparison of bytes",
    "setp.lt.s32 %p0, %r0, %r1; selp.b32 %r2, %r0, 3, %p0; st.global.u8 [%x1], %r2;",
    "%p0",
    "8s",
  ],
  [
    "a comparison with what no byte is",
    "add.s32 %r3, %r0, %r1; setp.lt.s32 %p0, %r3, 300; selp.b32 %r2, %r0, 3, %p0; st.global.u8 [%x1], %r2;",
    "%p0",
    "16s",
  ],
  [
    "a comparison of thread numbers",
    "setp.lt.s32 %p0, %r9, 7; selp.b32 %r2, %r0, 3, %p0; st.global.u8 [%x1], %r2;",
    "%p0",
    "words",
  ],
  [
    "a comparison of a wrapped sum is one of words",
    "ld.global.u32 %r5, [%x0]; add.s32 %r2, %r0, %r5; setp.lt.s32 %p0, %r2, 3; selp.b32 %r3, %r0, 1, %p0; st.global.u8 [%x1], %r3; st.global.u8 [%x1+64], %r2;",
    "%r2",
    "words",
  ],
  [
    "a count of rounds in a loop that grows",
    "mov.u32 %r2, 0; mov.u32 %r3, 0; L: add.s32 %r2, %r2, %r0; add.s32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 9; @%p0 bra L; st.global.u32 [%x1], %r2;",
    "%r2",
    "words",
  ],
  [
    "a sum in a loop of which only a byte is stored",
    "mov.u32 %r2, 0; mov.u32 %r3, 0; L: add.s32 %r2, %r2, %r0; add.s32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 9; @%p0 bra L; st.global.u8 [%x1], %r2;",
    "%r2",
    "8u?",
  ],
  ["an address", "cvt.u64.u32 %x3, %r0; add.s64 %x3, %x3, %x1; st.global.u8 [%x3], %r1;", "%r0", "words"],
  ["a number of all threads", "ld.param.u32 %r2, [n]; add.s32 %r3, %r0, %r2; st.global.u8 [%x1], %r3;", "%r2", "words"],
])("%s", (_, code, register, form) => {
  expect(formOf(code, register)).toBe(form);
});
