import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Waits that can never end, in compiled code: the report is that of the interpreter, and the launch is undone. Section
 * 9.7.13.15: a phase is complete when its arrivals and its transactions are; 9.7.16.7.1: tcgen05.alloc waits until
 * there is as much tensor memory as it asks for.
 */
const module = (body: string): string => `.version 9.0
.target sm_100a
.address_size 64
.shared .align 8 .b64 bar[2];
.shared .align 16 .b8 buf[1024];
.shared .align 4 .b32 cell[2];
.visible .entry k(.param .u64 out)
{
    .reg .u64 %o;
    .reg .u32 %t, %r, %b, %i;
    .reg .pred p, done, more;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
    mov.u32 %r, %cluster_ctarank;
    mov.u32 %b, bar;
    setp.eq.u32 p, %t, 0;
    @p atom.global.add.u32 %i, [%o], 1;
${body}
    ret;
}
`;

const wait = (label: string): string => `${label}:
    mbarrier.try_wait.parity.shared.b64 done, [%b], 0;
    @!done bra ${label};`;
const init = (count: number): string => `@p mbarrier.init.shared.b64 [%b], ${count};
    bar.sync 0;`;

interface Program {
  readonly body: string;
  readonly grid?: number;
  readonly cluster?: number;
  readonly says: RegExp;
}

const programs: Readonly<Record<string, Program>> = {
  "arrivals that do not come": {
    body: `${init(64)}
    mbarrier.arrive.shared.b64 _, [%b];
    ${wait("again")}`,
    says: /lacks 32 arrivals/,
  },
  "in several blocks": {
    body: `${init(64)}
    mbarrier.arrive.shared.b64 _, [%b];
    ${wait("again")}`,
    grid: 5,
    says: /lacks 32 arrivals/,
  },
  "bytes that nobody sends": {
    body: `${init(1)}
    @p mbarrier.arrive.expect_tx.shared.b64 _, [%b], 1024;
    @p cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%o], 512, [%b];
    ${wait("again")}`,
    says: /lacks 512 bytes\n.*expected by line 21: 1024 bytes; sent by line 22: 512 bytes/,
  },
  "bytes of a copy that is not reached": {
    body: `${init(1)}
    @p mbarrier.arrive.expect_tx.shared.b64 _, [%b], 1024;
    setp.eq.u32 p, %t, 99;
    @!p bra again;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%o], 1024, [%b];
    ${wait("again")}`,
    says: /expected by line 21: 1024 bytes; nothing has been sent; not by now: line 24/,
  },
  "others wait at a barrier": {
    body: `${init(2)}
    @!p bra meet;
    mbarrier.arrive.shared.b64 _, [%b];
    ${wait("again")}
meet:
    bar.sync 0;`,
    says: /lacks 1 arrival/,
  },
  "a counter that only this loop reads": {
    body: `${init(64)}
again:
    add.u32 %i, %i, 1;
    mbarrier.try_wait.parity.shared.b64 done, [%b], 0;
    setp.lt.u32 more, %i, 3000000;
    @more bra again;
    ${wait("then")}`,
    says: /lacks 64 arrivals/,
  },
  "tensor memory that nobody frees": {
    body: `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cell], 512;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cell+4], 32;`,
    says: /for tensor memory/,
  },
  "a block of a cluster": {
    body: `${init(1)}
    barrier.cluster.arrive;
    barrier.cluster.wait;
    setp.eq.u32 p, %r, 0;
    @p bra end;
    ${wait("again")}
end:
    barrier.cluster.arrive;
    barrier.cluster.wait;`,
    grid: 2,
    cluster: 2,
    says: /lacks 1 arrival/,
  },
  "the other block of a pair does not allocate": {
    body: `setp.eq.u32 p, %r, 0;
    @p bra end;
    tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [cell], 32;
end:
    barrier.cluster.arrive;
    barrier.cluster.wait;`,
    grid: 2,
    cluster: 2,
    says: /for tensor memory/,
  },
};

const hosts = [1, 2];
const cases = Object.entries(programs).flatMap(([name, program]) =>
  hosts.map((hostThreads) => [name, hostThreads, program] as const),
);

test.each(Object.entries(programs))("%s, in another order", (_, { body, grid = 1, cluster, says }) => {
  const device = new Device();
  const out = device.buffer(new Uint32Array(256));
  const kernel = device.load(module(body)).kernel("k");
  const shape = { grid, block: 32, ...(cluster === undefined ? {} : { cluster }) };
  const { reports } = kernel.launch({ ...shape, args: [out], seed: 1 });
  expect(reports.map(({ code }) => code)).toEqual(["deadlock"]);
  expect(reports[0]!.notes!.join("\n")).toMatch(says);
});

test.each(cases)("%s, %s threads of the host", (_, hostThreads, { body, grid = 1, cluster, says }) => {
  const run = (engine: "interpreter" | "jit") => {
    const device = new Device({ hostThreads });
    const out = device.buffer(new Uint32Array(256));
    const kernel = device.load(module(body)).kernel("k");
    const shape = { grid, block: 32, ...(cluster === undefined ? {} : { cluster }) };
    const { reports, engine: used } = kernel.launch({ ...shape, args: [out], engine });
    expect(used).toBe(engine);
    return {
      reports: reports.map(({ code, message, span, threads, notes }) => ({ code, message, span, threads, notes })),
      begun: out.read()[0],
    };
  };
  const compiled = run("jit");
  expect(compiled).toEqual(run("interpreter"));
  expect(compiled.reports.map(({ code }) => code)).toEqual(["deadlock"]);
  expect(compiled.reports[0]!.notes!.join("\n")).toMatch(says);
});
