import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Asynchronous copies and mbarriers of one block of 64 threads, with all sanitizers. `// report: code` at the end of a
 * line expects that report there; nothing else may be reported.
 */
const module = (body: string): string => `.version 9.0
.target sm_90
.address_size 64
.shared .align 16 .b8 buf[1024];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .u64 %i, %o, %n, %s;
    .reg .u32 %t, %d, %e, %b, %r, %x;
    .reg .pred p, q;
    ld.param.u64 %i, [in];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %i, %t, 4, %i;
    mad.wide.u32 %o, %t, 4, %o;
    mov.u32 %d, buf;
    shl.b32 %x, %t, 2;
    add.u32 %d, %d, %x;
    xor.b32 %e, %d, 4; // the neighbour's place
    mov.u32 %b, bar;
    setp.eq.u32 p, %t, 0;
${body}
    st.global.u32 [%o], %r;
    ret;
}
`;

const make = `@p  mbarrier.init.shared.b64 [%b], 64;
    bar.sync 0;`;

const programs: Readonly<Record<string, string>> = {
  "waited for with wait_all": `cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.wait_all;
    ld.shared.u32 %r, [%d];`,
  "waited for with a group": `cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.u32 %r, [%d];`,
  "a neighbour's, after its wait and a barrier": `cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.wait_all;
    bar.sync 0;
    ld.shared.u32 %r, [%e];`,
  "a barrier does not wait": `cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.commit_group;
    bar.sync 0;
    ld.shared.u32 %r, [%e]; // report: async-in-flight
    cp.async.wait_all;`,
  "one group too few": `cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%d+512], [%i], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r, [%d];
    ld.shared.u32 %r, [%d+512]; // report: async-in-flight
    cp.async.wait_all;`,
  "a group that was never committed": `cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.wait_group 0;
    ld.shared.u32 %r, [%d]; // report: async-in-flight
    cp.async.wait_all;`,
  "the destination is overwritten": `mov.u32 %r, 1;
    cp.async.ca.shared.global [%d], [%i], 4;
    st.shared.u32 [%d], %r; // report: async-in-flight
    cp.async.wait_all;`,
  "the source is overwritten": `mov.u32 %r, 1;
    cp.async.ca.shared.global [%d], [%i], 4;
    st.global.u32 [%i], %r; // report: async-in-flight
    cp.async.wait_all;`,
  "tracked by an mbarrier": `${make}
    cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%b];
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
    ld.shared.u32 %r, [%e];`,
  "tracked by an mbarrier that nobody waits for": `${make}
    cp.async.ca.shared.global [%d], [%i], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%b];
    ld.shared.u32 %r, [%d]; // report: async-in-flight
    cp.async.wait_all;`,
  "an mbarrier orders what threads store": `${make}
    st.shared.u32 [%d], %t;
    mbarrier.arrive.shared.b64 %s, [%b];
WAIT:
    mbarrier.test_wait.shared.b64 q, [%b], %s;
@!q bra WAIT;
    ld.shared.u32 %r, [%e];`,
  "an mbarrier that is only tried orders nothing": `${make}
    st.shared.u32 [%d], %t;
    mbarrier.arrive.shared.b64 %s, [%b];
    ld.shared.u32 %r, [%e]; // report: data-race`,
  "a phase that nobody completes": `@p  mbarrier.init.shared.b64 [%b], 65;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %s, [%b];
WAIT:
    mbarrier.try_wait.shared.b64 q, [%b], %s; // report: deadlock
@!q bra WAIT;
    mov.u32 %r, 0;`,
  "one warp waits for a phase, the other at a barrier": `${make}
    mbarrier.arrive.shared.b64 %s, [%b];
    mov.u32 %r, 0;
    setp.ge.u32 p, %t, 32;
@p  bra WAIT;
    bar.sync 1;
    bra END;
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 1; // report: deadlock
@!q bra WAIT;
    bar.sync 1;
END:`,
  "used after it is invalid": `${make}
@p  mbarrier.inval.shared.b64 [%b];
    bar.sync 0;
    mbarrier.arrive.shared.b64 %s, [%b]; // report: mbarrier-uninitialized
    mov.u32 %r, 0;`,
};

describe("asynchronous copies and mbarriers", () => {
  test.each(Object.entries(programs))("%s", (_, body) => {
    const text = module(body);
    const wanted = text.split("\n").flatMap((line, i) => {
      const [, code] = /\/\/ report: ([\w-]+)$/.exec(line) ?? [];
      return code === undefined ? [] : [`${i + 1} ${code}`];
    });
    const device = new Device();
    const args = [device.buffer("u32", 64), device.buffer("u32", 64)];
    const kernel = device.load(text).kernel("k");
    const { reports } = kernel.launch({ grid: 1, block: 64, args, sanitize: "all", maxSteps: 10_000_000 });
    expect(reports.map((r) => `${r.source.position(r.span.start).line} ${r.code}`)).toEqual(wanted);
  });
});
