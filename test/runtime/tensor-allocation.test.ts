import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/** One warp allocates 32 columns, with the address of `slot` as `pointer` gives it, and stores what it finds there. */
const kernelWith = (pointer: string): string => `.version 8.7\n.target sm_100a\n.address_size 64
.visible .entry k(.param .u64 out)\n{
    .shared .align 4 .b8 slot[4];
    .reg .b64 %o, %s; .reg .b32 %a;
    ld.param.u64 %o, [out];
    mov.u32 %a, -1; st.shared.u32 [slot], %a; bar.warp.sync -1;
    ${pointer}
    bar.warp.sync -1;
    ld.shared.u32 %a, [slot];
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 32;
    st.global.u32 [%o], %a;
    ret;\n}\n`;

const alloc = "tcgen05.alloc.cta_group::1.sync.aligned";
const pointers = [
  ["an address of shared memory", `mov.u64 %s, slot; ${alloc}.shared::cta.b32 [%s], 32;`],
  ["a generic address, and no state space", `cvta.shared.u64 %s, slot; ${alloc}.b32 [%s], 32;`],
  // As ThunderKittens writes it. The instruction takes 32 bits of the address, which are the same in both.
  ["a generic address where shared memory is named", `cvta.shared.u64 %s, slot; ${alloc}.shared::cta.b32 [%s], 32;`],
] as const;

describe.each(["jit", "interpreter"] as const)("%s", (engine) => {
  test.each(pointers)("tcgen05.alloc writes to %s", (_, pointer) => {
    const device = new Device();
    const out = device.buffer("u32", 1);
    const kernel = device.load({ path: "k.ptx", text: kernelWith(pointer) }).kernel("k");
    const { ok, reports } = kernel.launch({ grid: 1, block: 32, args: [out], engine, sanitize: "all" });
    expect(reports.map(({ message }) => message)).toEqual([]);
    expect(ok).toBe(true);
    expect(out.read()[0]).toBe(0);
  });
});
