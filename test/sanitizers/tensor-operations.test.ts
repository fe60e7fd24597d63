import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { tensorMemory } from "../tensor-memory-text.ts";

/*
 * Tensor memory of one block of 128 threads, with all sanitizers. `// report: code` at the end of a line expects that
 * report there; nothing else may be reported. The product is of zeros: A and B are in shared memory from 0 on.
 */
const module = (body: string): string => `.version 9.0
.target sm_100a
.address_size 64
.shared .align 128 .b8 buf[8192];
.shared .align 8 .b64 bar;
.shared .align 4 .b32 cell;
.visible .entry k(.param .u64 out)
{
    .reg .u64 %o, %m, %n;
    .reg .u32 %t, %w, %a, %l, %b, %r, %z, %i;
    .reg .pred p, q, first, done;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    shr.u32 %w, %t, 5;
    mov.u32 %z, 0;
    mov.u32 %i, 0x8040010;
    mov.u32 %b, bar;
    setp.eq.u32 p, %t, 0;
    setp.eq.u32 first, %w, 0;
    setp.ne.u32 q, %z, 0;
    mov.u32 %r, buf;
    mad.lo.u32 %r, %t, 64, %r;
    st.shared.v4.u32 [%r], {%z, %z, %z, %z};
    st.shared.v4.u32 [%r+16], {%z, %z, %z, %z};
    st.shared.v4.u32 [%r+32], {%z, %z, %z, %z};
    st.shared.v4.u32 [%r+48], {%z, %z, %z, %z};
${tensorMemory}
    mov.u32 %r, 0;
${body}
    bar.sync 0;
    @first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 64;
    st.global.u32 [%o], %r;
    ret;
}
`;

const product = "@p tcgen05.mma.cta_group::1.kind::f16 [%a], %m, %n, %i, q;";
const commit = "@p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%b];";
const wait = `again:
    mbarrier.try_wait.parity.shared.b64 done, [%b], 0;
    @!done bra again;
    tcgen05.fence::after_thread_sync;`;
const load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r}, [%l];";
const store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%l], {%t};";

const programs: Readonly<Record<string, string>> = {
  "a product that is waited for": `${product}
    ${commit}
    ${wait}
    ${load}
    tcgen05.wait::ld.sync.aligned;`,
  "a barrier does not wait for a product": `${product}
    ${commit}
    bar.sync 0;
    ${load} // report: async-in-flight
    tcgen05.wait::ld.sync.aligned;
    ${wait}`,
  "a wait of one thread, and a barrier": `${product}
    ${commit}
    @!first bra behind;
    ${wait}
behind:
    bar.sync 0;
    ${load}
    tcgen05.wait::ld.sync.aligned;`,
  "columns that the product does not use": `${product}
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r}, [%l+16]; // report: uninitialized-read
    tcgen05.wait::ld.sync.aligned;
    ${commit}
    ${wait}`,
  "a product that is not committed": `${product}
    @p mbarrier.arrive.shared.b64 _, [%b];
    ${wait}
    ${load} // report: async-in-flight
    tcgen05.wait::ld.sync.aligned;
    bar.sync 0;
    ${commit}
    ${wait.replaceAll("again", "once_more").replace("], 0", "], 1")}`,
  "B is overwritten before the product has read it": `${product}
    ${commit}
    @p st.shared.u32 [buf+4096], %t; // report: async-in-flight
    ${wait}`,
  "B is overwritten after the product has read it": `${product}
    ${commit}
    ${wait}
    @p st.shared.u32 [buf+4096], %t;`,
  "a load of what a store has not certainly written": `${store}
    ${load} // report: async-in-flight
    tcgen05.wait::ld.sync.aligned;
    tcgen05.wait::st.sync.aligned;`,
  "a store that is waited for": `${store}
    tcgen05.wait::st.sync.aligned;
    ${load}
    tcgen05.wait::ld.sync.aligned;`,
  "a product over what is being loaded": `${load} // report: uninitialized-read
    bar.sync 0;
    ${product} // report: async-in-flight
    tcgen05.wait::ld.sync.aligned;
    ${commit}
    ${wait}`,
  "a product that adds to what nothing has written": `${product.replace("q;", "p;")} // report: uninitialized-read
    ${commit}
    ${wait}`,
  "what was stored is loaded, and two columns of which one was stored": `${store}
    tcgen05.wait::st.sync.aligned;
    ${load}
    tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r, %i}, [%l];
    tcgen05.wait::ld.sync.aligned;`,
  "an undefined register is stored, and loaded again": `.reg .u32 %u;
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%l], {%u};
    tcgen05.wait::st.sync.aligned;
    ${load} // report: uninitialized-read
    tcgen05.wait::ld.sync.aligned;`,
  "a product into what was stored, without a wait": `${store}
    bar.sync 0;
    ${product} // report: async-in-flight
    tcgen05.wait::st.sync.aligned;
    ${commit}
    ${wait}`,
};

test.each(Object.entries(programs))("%s", (_, body) => {
  const text = module(body);
  const expected = text.split("\n").flatMap((line, i) => {
    const code = /\/\/ report: (\S+)$/.exec(line)?.[1];
    return code === undefined ? [] : [`${i + 1} ${code}`];
  });
  const device = new Device();
  const kernel = device.load(text).kernel("k");
  const args = [device.buffer("u32", 128)];
  const { reports } = kernel.launch({ grid: 1, block: 128, args, sanitize: "all", maxSteps: 10_000_000 });
  const found = reports.map(({ code, source, span }) => `${source.position(span.start).line} ${code}`);
  expect(found.sort()).toEqual(expected.sort());
});
