import { expect, test, vi } from "vitest";
import { Reconvergence } from "../../src/jit/compile/control/reconvergence.ts";
import { Device } from "../../src/runtime/index.ts";

test("where the compiler fails as it should not, the interpreter runs the kernel, and it is said why", () => {
  vi.spyOn(Reconvergence.prototype, "branch").mockImplementation(() => {
    throw new Error("no such block");
  });
  const device = new Device();
  const out = device.buffer("u32", 32);
  const kernel = device
    .load(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %t; .reg .b64 %o; .reg .pred %p;
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %o, %t, 4, %o;
  setp.lt.u32 %p, %t, 7;
  @%p bra low;
  add.u32 %t, %t, 100;
low:
  st.global.u32 [%o], %t;
  bar.sync 0;
  ret;
}`)
    .kernel("k");
  const result = kernel.launch({ grid: 1, block: 32, args: [out], engine: "jit" });
  vi.restoreAllMocks();
  expect(result.engine).toBe("interpreter");
  expect(result.interpreted).toMatch(/mistake in the compiler.*: no such block$/);
  expect([...out.read()].slice(5, 8)).toEqual([5, 6, 107]);
});
