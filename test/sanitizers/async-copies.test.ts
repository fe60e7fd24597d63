import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Asynchronous copies and mbarriers of one block of 64 threads, with all sanitizers. `// report: code` at the end of a
 * line expects that report there, or several; nothing else may be reported.
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

/** Thread 0 copies 64 words to shared memory, counted by an mbarrier. */
const bulk = `@p  mbarrier.init.shared.b64 [%b], 1;
    bar.sync 0;
@p  mbarrier.arrive.expect_tx.shared.b64 %s, [%b], 256;
@p  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d], [%i], 256, [%b];`;

/** Thread 0 copies 64 words from shared memory, in a bulk group. */
const stored = `st.shared.u32 [%d], %t;
    fence.proxy.async;
    bar.sync 0;
@p  cp.async.bulk.global.shared::cta.bulk_group [%i], [%d], 256;
@p  cp.async.bulk.commit_group;`;

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
  "a bulk copy, waited for by all threads": `${bulk}
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
    ld.shared.u32 %r, [%e];`,
  "a bulk copy, waited for by one thread, which meets the others at a barrier": `${bulk}
@!p bra MEET;
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
MEET:
    bar.sync 0;
    ld.shared.u32 %r, [%e];`,
  "a bulk copy that is not waited for": `${bulk}
    bar.sync 0;
    ld.shared.u32 %r, [%e]; // report: async-in-flight`,
  "the destination of a bulk copy is overwritten": `${bulk}
    bar.sync 0;
    mov.u32 %r, 1;
    st.shared.u32 [%d], %r; // report: async-in-flight`,
  "the source of a bulk copy is overwritten": `${bulk}
    bar.sync 0;
    mov.u32 %r, 1;
    st.global.u32 [%i], %r; // report: async-in-flight`,
  "a second bulk copy into the same place": `${bulk}
@p  mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 256;
@p  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d], [%i], 256, [%b]; // report: async-in-flight
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
    ld.shared.u32 %r, [%e]; // report: data-race, async-in-flight`,
  "a bulk store whose source stays": `${stored}
@p  cp.async.bulk.wait_group.read 0;
    bar.sync 0;
    mov.u32 %r, 1;
    st.shared.u32 [%d], %r;`,
  "a bulk store whose source changes too early": `${stored}
    bar.sync 0;
    mov.u32 %r, 1;
    st.shared.u32 [%d], %r; // report: async-in-flight`,
  "a bulk store that has read its source, and has perhaps not written": `${stored}
@p  cp.async.bulk.wait_group.read 0;
    bar.sync 0;
    ld.global.u32 %r, [%i]; // report: async-in-flight`,
  "a bulk store that may still read shared memory when the block ends": `st.shared.u32 [%d], %t;
    fence.proxy.async;
    bar.sync 0;
@p  cp.async.bulk.global.shared::cta.bulk_group [%i], [%d], 256; // report: async-in-flight
@p  cp.async.bulk.commit_group;
    mov.u32 %r, 1;`,
  "a bulk store that is complete": `${stored}
@p  cp.async.bulk.wait_group 0;
    bar.sync 0;
    ld.global.u32 %r, [%i];`,
  "bulk reductions of many threads into one place": `st.shared.u32 [%d], %t;
    fence.proxy.async;
    bar.sync 0;
    mov.u32 %d, buf;
    ld.param.u64 %i, [in];
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%i], [%d], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 %r, 0;`,
  "a bulk store and an ordinary one that nothing orders": `${stored}
@!p st.global.u32 [%i], %t; // report: async-in-flight
    mov.u32 %r, 0;`,
  "an ordinary store, and no proxy fence before a bulk copy reads it": `st.shared.u32 [%d], %t;
    bar.sync 0;
@p  cp.async.bulk.global.shared::cta.bulk_group [%i], [%d], 256; // report: proxy-fence-missing
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 %r, 0;`,
  "what a bulk copy has brought needs no proxy fence": `${bulk}
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
@p  cp.async.bulk.global.shared::cta.bulk_group [%i], [%d], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 %r, 0;`,
  "copied bytes count as written": `${bulk}
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
    ld.shared.u32 %r, [%d];
    setp.gt.u32 q, %r, 5;
@q  mov.u32 %r, 5;`,
};

/** Programs with nothing to report that are left to the interpreter: it writes itself what its copies write. */
const left = new Set(["a bulk store that is complete"]);

describe("asynchronous copies and mbarriers", () => {
  test.each(Object.entries(programs))("%s", { timeout: 200_000 }, (name, body) => {
    const text = module(body);
    const wanted = text.split("\n").flatMap((line, i) => {
      const [, list] = /\/\/ report: ([\w ,-]+)$/.exec(line) ?? [];
      return list === undefined ? [] : list.split(", ").map((code) => `${i + 1} ${code}`);
    });
    const run = (options: { readonly maxSteps?: number }) => {
      const device = new Device();
      const args = [device.buffer("u32", 64), device.buffer("u32", 64)];
      const kernel = device.load(text).kernel("k");
      const { reports, engine } = kernel.launch({ grid: 1, block: 64, args, sanitize: "all", ...options });
      return { found: reports.map((r) => `${r.source.position(r.span.start).line} ${r.code}`), engine };
    };
    expect(run({ maxSteps: 10_000_000 }).found).toEqual(wanted);
    // Whether blocks wait for ever takes compiled code a while to find out.
    if (wanted.some((report) => report.endsWith("deadlock"))) return;
    const { found, engine } = run({});
    expect(found).toEqual(wanted);
    if (wanted.length === 0 && !left.has(name)) expect(engine).toBe("jit");
  });

  test("a deadlock says what an mbarrier lacks", () => {
    const body = `@p  mbarrier.init.shared.b64 [%b], 2;
    bar.sync 0;
@p  mbarrier.arrive.expect_tx.shared.b64 %s, [%b], 512;
@p  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d], [%i], 256, [%b];
WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [%b], 0;
@!q bra WAIT;
    mov.u32 %r, 0;`;
    const device = new Device({ engine: "interpreter" });
    const args = [device.buffer("u32", 64), device.buffer("u32", 64)];
    const options = { grid: 1, block: 64, args, maxSteps: 10_000_000 };
    const { reports } = device.load(module(body)).kernel("k").launch(options);
    expect(reports[0]).toMatchObject({ code: "deadlock" });
    expect(reports[0]!.notes[0]).toContain("for the phase of an mbarrier, which lacks 1 arrival and 256 bytes");
  });
});
