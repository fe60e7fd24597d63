import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * "When .op_restrict is .mbarrier_init, the synchronizing effect of the fence only applies to the prior mbarrier.init
 * operations" (section 9.7.13.4); a relaxed arrival at the barrier of a cluster guarantees nothing else (9.7.13.3). Two
 * blocks of a warp each: thread 0 makes %b and uses %m, that of the other block. `// report: code` at the end of a line
 * expects that report there; nothing else may be reported.
 */
const module = (body: string): string => `.version 8.6
.target sm_90
.address_size 64
.shared .align 16 .b8 buf[64];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 in) .reqntid 64 .reqnctapercluster 2
{
    .reg .b64 %i;
    .reg .b32 %b, %m, %d, %e, %r, %t;
    .reg .pred p, first, done;
    ld.param.u64 %i, [in];
    mov.u32 %b, bar;
    mov.u32 %d, buf;
    mov.u32 %r, %cluster_ctarank;
    setp.eq.u32 first, %r, 0;
    xor.b32 %r, %r, 1;
    mapa.shared::cluster.u32 %m, %b, %r;
    mapa.shared::cluster.u32 %e, %d, %r;
    mov.u32 %t, %tid.x;
    setp.eq.u32 p, %t, 0;
    setp.eq.and.u32 first, %t, 0, first;
${body}
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
`;

const relaxed = `barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.acquire.aligned;`;
const released = `barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;`;
const init = "@p mbarrier.init.shared::cta.b64 [%b], 1;";
const fence = "@p fence.mbarrier_init.release.cluster;";
const arrive = "@p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%m];";

/** The thread that has made the mbarrier knows it without a fence; others of its block need a barrier. */
const wait = `bar.sync 0;
wait:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%b], 0;
    @!done bra wait;`;

const expectBytes = "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 16;";
const multicast = `@first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%d], [%i], 16, [%b], 3;`;
const store = "@p st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%e], {%r, %r, %r, %r}, [%m];";

const missing = " // report: mbarrier-fence-missing";

const programs: Readonly<Record<string, string>> = {
  "fence, relaxed arrival": [init, fence, relaxed, arrive, wait].join("\n"),
  "no fence, relaxed arrival": [init, relaxed, arrive + missing, wait].join("\n"),
  "no fence, arrival that releases": [init, released, arrive, wait].join("\n"),
  "a fence for all memory": [init, "@p fence.acq_rel.cluster;", relaxed, arrive, wait].join("\n"),
  "a fence of the block alone": [init, "@p fence.acq_rel.cta;", relaxed, arrive + missing, wait].join("\n"),
  "a fence between proxies": [init, "@p fence.proxy.async;", relaxed, arrive + missing, wait].join("\n"),
  "the fence before the initialization": [fence, init, relaxed, arrive + missing, wait].join("\n"),
  "the fence of another thread": [
    init,
    "setp.eq.u32 done, %t, 1;",
    "@done fence.mbarrier_init.release.cluster;",
    relaxed,
    arrive + missing,
    wait,
  ].join("\n"),
  "the fence of another thread, which a barrier orders after it": [
    init,
    "bar.sync 0;",
    "setp.eq.u32 done, %t, 1;",
    "@done fence.mbarrier_init.release.cluster;",
    relaxed,
    arrive,
    wait,
  ].join("\n"),
  "a multicast copy": [init, fence, relaxed, expectBytes, released, multicast, wait].join("\n"),
  "a multicast copy without the fence": [
    init,
    relaxed,
    expectBytes,
    "barrier.cluster.arrive.relaxed.aligned;",
    "barrier.cluster.wait.acquire.aligned;",
    multicast + missing,
    wait,
  ].join("\n"),
  "an asynchronous store": [init, expectBytes, released, store, wait].join("\n"),
  "an asynchronous store without the fence": [init, expectBytes, relaxed, store + missing, wait].join("\n"),
  "the own block after a barrier of the block": [init, "bar.sync 0;", expectBytes].join("\n"),
  "another warp of the own block, without a barrier": [
    init,
    "setp.eq.u32 done, %t, 32;",
    "@done mbarrier.arrive.shared::cta.b64 _, [%b]; // report: data-race",
  ].join("\n"),
  "invalidated after a barrier, and made anew": [
    init,
    "bar.sync 0;",
    "@p mbarrier.arrive.shared::cta.b64 _, [%b];",
    wait,
    "bar.sync 0;",
    "@p mbarrier.inval.shared::cta.b64 [%b];",
    init,
    "bar.sync 0;",
    "@p mbarrier.arrive.shared::cta.b64 _, [%b];",
  ].join("\n"),
};

test.each(Object.entries(programs))("%s", (_, body) => {
  const text = module(body);
  const wanted = text.split("\n").flatMap((line, i) => {
    const [, code] = /\/\/ report: ([\w-]+)$/.exec(line) ?? [];
    return code === undefined ? [] : [`${i + 1} ${code}`];
  });
  // In another order the mistake may be a fault: there is no mbarrier yet.
  for (const how of wanted.length > 0 ? [{}] : [{}, { seed: 1 }, { seed: 2 }]) {
    const device = new Device();
    const { reports } = device
      .load(text)
      .kernel("k")
      .launch({ grid: 2, block: 64, args: [device.buffer("u32", 64)], sanitize: ["race"], ...how });
    const found = reports.map((r) => `${r.source.position(r.span.start).line} ${r.code}`).sort();
    expect(found, JSON.stringify(how)).toEqual(wanted);
  }
});
