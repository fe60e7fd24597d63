import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Threads of four warps wait for two mbarriers in turn, for phase after phase, and one thread completes them, as in
 * examples/cute/tutorial/blackwell of CUTLASS. A warp that waits for phase 0 of the first one would find phase 2 if
 * another warp could be two phases ahead, and wait for ever: a GPU, whose warps run at the same time, gets through.
 */
const ptx = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .shared .align 8 .b64 first;
    .shared .align 8 .b64 second;
    .reg .b32 %t, %phase, %i, %x, %y;
    .reg .b64 %o;
    .reg .pred p, q, done;
    mov.u32 %t, %tid.x;
    setp.eq.u32 p, %t, 0;
    mov.u32 %x, first;
    mov.u32 %y, second;
    @p mbarrier.init.shared.b64 [%x], 1;
    @p mbarrier.init.shared.b64 [%y], 1;
    bar.sync 0;
    mov.u32 %phase, 0;
    mov.u32 %i, 0;
next:
    @p mbarrier.arrive.shared.b64 _, [%x];
wait_first:
    mbarrier.try_wait.parity.shared.b64 done, [%x], %phase;
    @done bra has_first;
    bra wait_first;
has_first:
    @p mbarrier.arrive.shared.b64 _, [%y];
wait_second:
    mbarrier.try_wait.parity.shared.b64 done, [%y], %phase;
    @!done bra wait_second;
    xor.b32 %phase, %phase, 1;
    add.u32 %i, %i, 1;
    setp.lt.u32 q, %i, 40;
    @q bra next;
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %t, 4, %o;
    st.global.u32 [%o], %i;
    ret;
}
`;

test("a warp that completes phases lets the others see each of them", () => {
  for (const how of [{ engine: "interpreter" }, { engine: "jit" }, { sanitize: "all" }] as const) {
    const device = new Device();
    const out = device.buffer("u32", 128);
    const result = device
      .load(ptx)
      .kernel("k")
      .launch({ grid: 1, block: 128, args: [out], ...how });
    expect(result.reports).toEqual([]);
    expect([...out.read()]).toEqual(Array.from({ length: 128 }, () => 40));
    if ("engine" in how) expect(result.engine).toBe(how.engine);
  }
});
