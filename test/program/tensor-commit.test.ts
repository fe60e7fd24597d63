import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Section 9.7.16.12.1: "The mbarrier signal is multicast to the same offset as mbar in the shared memory of each
 * destination CTA". Of a cluster of four blocks the first signals those of ranks 1 and 3 and itself; the block of rank
 * 2 signals itself.
 */
const text = `.version 9.0
.target sm_100a
.address_size 64
.shared .align 8 .b64 before;
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 out) .explicitcluster .reqnctapercluster 4, 1, 1
{
    .reg .u64 %o;
    .reg .u32 %t, %r, %b;
    .reg .u16 %m;
    .reg .pred p, q, done;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %r, %ctaid.x;
    mad.wide.u32 %o, %r, 4, %o;
    mov.u32 %r, %cluster_ctarank;
    mov.u32 %b, bar;
    setp.eq.u32 p, %t, 0;
    @p mbarrier.init.shared.b64 [%b], 1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.eq.and.u32 q, %r, 0, p;
    mov.u16 %m, 11;
    @q tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%b], %m;
    setp.eq.and.u32 q, %r, 2, p;
    @q tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%b];
again:
    mbarrier.try_wait.parity.shared.b64 done, [%b], 0;
    @!done bra again;
    add.u32 %r, %r, 1;
    @p st.global.u32 [%o], %r;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
`;

test.each(["interpreter", "jit"] as const)("%s", (engine) => {
  const device = new Device();
  const out = device.buffer("u32", 8);
  const kernel = device.load(text).kernel("k");
  const { reports } = kernel.launch({ grid: 8, block: 64, args: [out], engine, maxSteps: 10_000_000 });
  expect(reports.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
  expect([...out.read()]).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
});
