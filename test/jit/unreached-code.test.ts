import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/** A register that is never written, and code after a return that computes with it: nothing leads there. */
const unreached = "and.b32 %w, %x, %y; and.b32 %y, %w, %y;";

const head = ".version 8.0\n.target sm_80\n.address_size 64\n";

const inFunction = `${head}
.func (.param .b32 r) same(.param .b32 a) {
  .reg .b32 %x, %y, %w;
  ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret;
  ${unreached} st.param.b32 [r], %y; ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p;
  ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;
  mov.u32 %r1, 100; and.b32 %r2, %r0, 3; setp.ge.u32 %p, %r2, 2; @%p bra DONE;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call (r), same, (a); ld.param.b32 %r1, [r]; }
DONE:
  st.global.u32 [%d2], %r1; ret;
}`;

const inKernel = `${head}
.visible .entry k(.param .u64 out) {
  .reg .b32 %x, %y, %w; .reg .b64 %d<3>; .reg .pred %p;
  ld.param.u64 %d0, [out]; mov.u32 %x, %tid.x; mul.wide.u32 %d1, %x, 4; add.u64 %d2, %d0, %d1;
  and.b32 %w, %x, 3; setp.lt.u32 %p, %w, 2; @%p bra DONE;
  mov.u32 %x, 100;
DONE:
  st.global.u32 [%d2], %x; ret;
AGAIN:
  ${unreached} bar.sync 0; atom.global.add.u32 %w, [%d2], %y; setp.ne.u32 %p, %y, 0; @%p bra AGAIN;
  ret;
}`;

test.each([
  ["a function", inFunction],
  ["a kernel", inKernel],
])("code to which no way leads in %s is compiled to nothing", (_, text) => {
  const device = new Device({ engine: "jit" });
  const out = device.buffer("u32", 64);
  const { engine, reports } = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: 64, args: [out] });
  expect({ engine, reports }).toEqual({ engine: "jit", reports: [] });
  expect([...out.read()]).toEqual(Array.from({ length: 64 }, (_, i) => (i % 4 < 2 ? i : 100)));
});
