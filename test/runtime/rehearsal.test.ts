import { expect, test, vi } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";

/** out[n] = n + the number of the launch, for n below `count`; a struct of three bytes is not looked at. */
const text = `.version 8.0
.target sm_80
.address_size 64
.global .u32 used = 7;
.visible .entry number(.param .u64 out, .param .u32 count, .param .align 1 .b8 other[3])
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d0, [out]; ld.param.u32 %r0, [count];
  mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r0; @%p ret;
  mov.u64 %d1, %gridid; cvt.u32.u64 %r2, %d1; add.u32 %r2, %r2, %r1;
  mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d0, %d2; st.global.u32 [%d3], %r2;
  ret;
}`;

const entries = new Map<string, Uint8Array>();
const kernelStore: KernelStore = {
  read: (key) => entries.get(key) ?? null,
  write: (key, entry) => void entries.set(key, entry),
  remove: (key) => void entries.delete(key),
};

/** The kernel on a new device, and what its launch writes. */
function open() {
  const device = new PtxDevice({ kernelStore });
  const out = device.buffer("u32", 8);
  const kernel = device.load(text).kernel("number");
  const launch = (): number[] => {
    const args = [out, 8, new Uint8Array(3)];
    expect(kernel.launch({ grid: 1, block: 32, args }).ok).toBe(true);
    return [...out.read()];
  };
  return { out, launch };
}

test("the launch that a kernel is prepared for is rehearsed in one process once, which leaves nothing behind", () => {
  const launches = vi.spyOn(JitProgram.prototype, "launch");
  const [number] = open().launch() as [number];
  const from = (first: number): number[] => Array.from({ length: 8 }, (_, n) => first + n);
  expect(launches).toHaveBeenCalledTimes(1);
  const { out, launch } = open();
  // With arguments of three kinds.
  expect(launches).toHaveBeenCalledTimes(4);
  for (const { value } of launches.mock.results) expect(value).toMatchObject({ ok: true, reports: [] });
  expect([...out.read()]).toEqual(new Array(8).fill(0));
  // Kernels can ask for the number of their launch.
  expect(launch()).toEqual(from(number + 1));
  expect(open().launch()).toEqual(from(number + 2));
  expect(launches).toHaveBeenCalledTimes(6);
});
