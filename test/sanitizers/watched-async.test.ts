import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/** Each block waits until all have come. */
const text = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b32 arrived;
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o;
    .reg .b32 %t, %n, %x;
    .reg .pred p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %ctaid.x;
    mov.u32 %n, %nctaid.x;
    mad.wide.u32 %o, %t, 4, %o;
    atom.global.gpu.relaxed.add.u32 %x, [arrived], 1;
again:
    ld.relaxed.gpu.global.u32 %x, [arrived];
    setp.lt.u32 p, %x, %n;
@p  bra again;
    st.global.u32 [%o], %x;
    ret;
}
`;

test("blocks that wait for each other in an awaited launch are watched in compiled code", async () => {
  const device = new Device({ sanitize: "all" });
  const out = device.buffer("u32", 4);
  const kernel = device.load(text).kernel("k");
  const { engine, interpreted, reports } = await kernel.launchAsync({ grid: 4, block: 1, args: [out] });
  expect([engine, interpreted, reports]).toEqual(["jit", null, []]);
  expect([...out.read()]).toEqual([4, 4, 4, 4]);
});
