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

/** `await` waits until its word is 1, `tell` writes it. */
const streams = `.version 8.0
.target sm_80
.address_size 64
.visible .entry await(.param .u64 word)
{
    .reg .b64 %d;
    .reg .b32 %r;
    .reg .pred p;
    ld.param.u64 %d, [word];
again:
    ld.acquire.sys.global.u32 %r, [%d];
    setp.ne.u32 p, %r, 1;
@p  bra again;
    st.global.u32 [%d+4], 2;
    ret;
}
.visible .entry tell(.param .u64 word)
{
    .reg .b64 %d;
    ld.param.u64 %d, [word];
    st.release.sys.global.u32 [%d], 1;
    ret;
}
`;

// CUDA Programming Guide, "Concurrent Kernel Execution": kernels in different streams may run at the same time.
test("a watched launch that stalls is taken back, and waits for one in another stream", async () => {
  const device = new Device({ sanitize: "all" });
  const word = device.buffer("u32", 2);
  word.write(new Uint32Array(2));
  const module = device.load(streams);
  const one = { grid: 1, block: 1, args: [word] };
  const [waits, tells] = await Promise.all(
    ["await", "tell"].map((name) => module.kernel(name).launchAsync({ ...one, stream: device.stream() })),
  );
  expect([waits!.reports, tells!.reports]).toEqual([[], []]);
  expect([waits!.engine, waits!.interpreted]).toEqual([
    "interpreter",
    "sanitizers watch: all blocks wait for what none of them does",
  ]);
  expect([...word.read()]).toEqual([1, 2]);
});
