import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * "In conditionally executed code, an aligned barrier.cluster instruction should only be used if it is known that all
 * threads in the warp evaluate the condition identically" (section 9.7.13.3). `// report: code` at the end of a line
 * expects that report there; nothing else may be reported.
 */
const module = (body: string): string => `.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 words[256];
.func meetOfBlock() { bar.sync 0; ret; }
.func meetOfCluster() { barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }
.visible .entry k() .reqntid 64 .reqnctapercluster 2
{
    .reg .b32 %t, %word;
    .reg .pred p, q;
    mov.u32 %t, %tid.x;
    mov.u32 %word, words;
    mad.lo.u32 %word, %t, 4, %word;
    and.b32 %t, %t, 31;
    setp.lt.u32 p, %t, 16;
${body}
    ret;
}
`;

/** Lanes 0 to 15 go around a few stores of the others. */
const oneStores = (label: string): string => `@p bra ${label};
    st.shared.u32 [%word], 1;
    st.shared.u32 [%word], 2;
    st.shared.u32 [%word], 3;
${label}:`;

const programs: Readonly<Record<string, string>> = {
  "all threads": `barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;`,
  "after a branch whose ways meet": `@p bra meet;
    add.u32 %t, %t, 1;
meet:
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.acquire.aligned;`,
  "after a branch of which one way stores, which takes a while under some schedules": `${oneStores("meet")}
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ${oneStores("again")}
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;`,
  "such a branch before a barrier in a function, which lanes then call one after the other": `${oneStores("meet")}
    call meetOfBlock;
    call meetOfCluster;`,
  "lanes that have ended": `@p ret;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;`,
  "warps that go different ways": `mov.u32 %t, %tid.x;
    setp.lt.u32 p, %t, 32;
    @p bra first;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    bra end;
first:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
end:`,
  "half of the warp at another instruction, which is not aligned": `@p bra first;
    barrier.cluster.arrive;
    bra wait;
first:
    barrier.cluster.arrive;
wait:
    barrier.cluster.wait;`,
  "half of the warp at another instruction": `@p bra first;
    barrier.cluster.arrive.aligned; // report: barrier-divergence
    bra wait;
first:
    barrier.cluster.arrive.aligned; // report: barrier-divergence
wait:
    barrier.cluster.wait.aligned;`,
  "half of the warp goes past both": `@p bra past;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned; // report: barrier-divergence
past:
    st.shared.u32 [%word], %t;`,
  "a guard that keeps half of the warp from it": `@p barrier.cluster.arrive.aligned; // report: barrier-divergence
    @p barrier.cluster.wait.aligned; // report: barrier-divergence`,
  "a guard that holds in half of the warp": `@p barrier.cluster.arrive.aligned; // report: barrier-divergence
    @!p barrier.cluster.arrive;
    barrier.cluster.wait.aligned;`,
};

test.each(Object.entries(programs))("%s", (_, body) => {
  const text = module(body);
  const wanted = text.split("\n").flatMap((line, i) => {
    const [, code] = /\/\/ report: ([\w-]+)$/.exec(line) ?? [];
    return code === undefined ? [] : [`${i + 1} ${code}`];
  });
  for (const how of [{}, ...Array.from({ length: 8 }, (_, i) => ({ seed: i + 1 }))]) {
    const kernel = new Device().load(text).kernel("k");
    const { reports } = kernel.launch({ grid: 2, block: 64, args: [], sanitize: "all", ...how });
    expect(reports.map((r) => `${r.source.position(r.span.start).line} ${r.code}`).sort()).toEqual(wanted);
  }
});
