import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { tensorMemory } from "../tensor-memory-text.ts";

/*
 * When asynchronous operations take effect. Without a seed they do where they are issued; with one, as late as the
 * waits allow: a program with all its waits computes the same, and in one without a wait what is read is what was there
 * before. Each thread stores what it has seen; the sentences are those of the sections that the names give.
 */
interface Program {
  readonly target: string;
  /** In front of the kernel's end; WAIT stands for what may be forgotten, and SEEN is stored. */
  readonly body: string;
  readonly wait: string;
  readonly right: (thread: number) => number;
  readonly wrong: (thread: number) => number;
}

const start = `
    .reg .u64 %o, %in, %m, %n, %da;
    .reg .u32 %t, %w, %a, %l, %b, %s, %seen, %i, %z;
    .reg .f32 %d<4>;
    .reg .pred p, q, first, done;
    ld.param.u64 %o, [out];
    mov.u64 %in, %o;
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    shr.u32 %w, %t, 5;
    mov.u32 %z, 0;
    mov.u32 %s, buf;
    mad.lo.u32 %s, %t, 4, %s;
    setp.eq.u32 p, %t, 0;
    setp.eq.u32 first, %w, 0;
    setp.ne.u32 q, %z, 0;
    mov.u32 %b, bar;`;

const module = ({ target, body, wait }: Program, waits: boolean): string => `.version 9.0
.target ${target}
.address_size 64
.shared .align 1024 .b8 buf[8192];
.shared .align 8 .b64 bar[2];
.shared .align 4 .b32 cell;
.visible .entry k(.param .u64 out)
{${start}
${body.replaceAll("WAIT", waits ? wait : "")}
    st.global.u32 [%o+512], %seen;
    ret;
}
`;

/** What 128 threads have seen. Global memory holds 1000 and the thread's number. */
function run(program: Program, waits: boolean, how: object): { readonly seen: number[]; readonly codes: string[] } {
  const device = new Device();
  const words = Uint32Array.from({ length: 256 }, (_, i) => 1000 + i);
  const out = device.buffer(words);
  const kernel = device.load(module(program, waits)).kernel("k");
  const { reports } = kernel.launch({ grid: 1, block: 128, args: [out], ...how });
  return {
    seen: [...out.read()].slice(128).map(Number),
    codes: reports.map(({ code, message }) => `${code}: ${message}`),
  };
}

/** All elements of A and B are 1 (f16), with no swizzle. */
const ones = `
    mov.u32 %i, 0x3c003c00;
    mad.lo.u32 %a, %t, 60, %s;
    st.shared.v4.u32 [%a], {%i, %i, %i, %i};
    st.shared.v4.u32 [%a+16], {%i, %i, %i, %i};
    st.shared.v4.u32 [%a+32], {%i, %i, %i, %i};
    st.shared.v4.u32 [%a+48], {%i, %i, %i, %i};`;

const tensor = (body: string, wait: string, right: number, wrong: number): Program => ({
  target: "sm_100a",
  body: `${ones}
${tensorMemory}
    mov.u32 %i, 0x8040010;
    mov.u32 %seen, 7;
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%l], {%seen};
    tcgen05.wait::st.sync.aligned;
    bar.sync 0;
${body}
    bar.sync 0;
    @first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 64;`,
  wait,
  right: () => right,
  wrong: () => wrong,
});

const product = "@p tcgen05.mma.cta_group::1.kind::f16 [%a], %m, %n, %i, q;";
const commit = "@p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%b];";
const tried = (label: string): string => `${label}:
    mbarrier.try_wait.parity.shared.b64 done, [%b], 0;
    @!done bra ${label};
    tcgen05.fence::after_thread_sync;`;
const load = `tcgen05.ld.sync.aligned.32x32b.x1.b32 {%seen}, [%l];
    tcgen05.wait::ld.sync.aligned;`;
const sixteen = 0x4180_0000;

const copy = (body: string, wait: string): Program => ({
  target: "sm_90a",
  body: `    mov.u32 %seen, 5;
    st.shared.u32 [%s], %seen;
${body}
    ld.shared.u32 %seen, [%s];`,
  wait,
  right: (thread) => 1000 + thread,
  wrong: () => 5,
});

const warpgroup = (product: string, wait: string, right: number, wrong: number): Program => ({
  target: "sm_90a",
  body: `${ones}
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mov.b64 %m, 0x001000080000;
    mov.b64 %n, 0x001000080100;
    mov.b32 %d0, 0f40000000;
    mov.b32 %d1, %d0;
    mov.b32 %d2, %d0;
    mov.b32 %d3, %d0;
    wgmma.fence.sync.aligned;
${product}
    wgmma.commit_group.sync.aligned;
    WAIT
    mov.b32 %seen, %d0;
    wgmma.wait_group.sync.aligned 0;`,
  wait,
  right: () => right,
  wrong: () => wrong,
});

const multiply = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %m, %n, 1, 1, 1, 0, 0;";

const programs: Readonly<Record<string, Program>> = {
  "cp.async.wait_group (9.7.9.25.3.3)": copy(
    `    cp.async.ca.shared.global [%s], [%o], 4;
    cp.async.commit_group;
    WAIT`,
    "cp.async.wait_group 0;",
  ),
  "cp.async.wait_all (9.7.9.25.3.3)": copy(
    `    cp.async.ca.shared.global [%s], [%o], 4;
    WAIT`,
    "cp.async.wait_all;",
  ),
  "the oldest of two groups (9.7.9.25.3.3)": copy(
    `    cp.async.ca.shared.global [%s], [%o], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%s+4096], [%o], 4;
    cp.async.commit_group;
    cp.async.wait_group 2;
    WAIT`,
    "cp.async.wait_group 1;",
  ),
  "what a copy does not read is zeros (9.7.9.25.3.1)": {
    ...copy("    cp.async.ca.shared.global [%s], [%o], 4, 2;\n    WAIT", "cp.async.wait_all;"),
    right: (thread) => (1000 + thread) & 0xffff,
  },
  "cp.async.mbarrier.arrive.noinc (9.7.13.15.15)": copy(
    `    @p mbarrier.init.shared.b64 [%b], 128;
    bar.sync 0;
    cp.async.ca.shared.global [%s], [%o], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%b];
    WAIT`,
    tried("copied").replace("tcgen05.fence::after_thread_sync;", ""),
  ),
  "cp.async.mbarrier.arrive (9.7.13.15.15)": copy(
    `    @p mbarrier.init.shared.b64 [%b], 128;
    bar.sync 0;
    cp.async.ca.shared.global [%s], [%o], 4;
    cp.async.mbarrier.arrive.shared.b64 [%b];
    mbarrier.arrive.shared.b64 _, [%b];
    WAIT`,
    tried("copied").replace("tcgen05.fence::after_thread_sync;", ""),
  ),
  "wgmma.wait_group (9.7.15.7.3)": warpgroup(multiply, "wgmma.wait_group.sync.aligned 0;", 0x4190_0000, 0x4000_0000),
  "two products in the same registers (9.7.15.7.1)": warpgroup(
    `${multiply}\n    ${multiply}`,
    "wgmma.wait_group.sync.aligned 0;",
    0x4208_0000,
    0x4000_0000,
  ),
  "tcgen05.wait::ld (9.7.16.8.5)": tensor(
    `    mov.u32 %seen, 3;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%seen}, [%l];
    WAIT
    add.u32 %i, %seen, 0;
    tcgen05.wait::ld.sync.aligned;
    mov.u32 %seen, %i;`,
    "tcgen05.wait::ld.sync.aligned;",
    7,
    3,
  ),
  "tcgen05.wait::st (9.7.16.8.5)": tensor(
    `    mov.u32 %seen, 9;
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%l], {%seen};
    WAIT
    ${load}`,
    "tcgen05.wait::st.sync.aligned;",
    9,
    7,
  ),
  "tcgen05.commit (9.7.16.12.1)": tensor(
    `    ${product}
    ${commit}
    WAIT
    ${load}
    ${tried("end")}`,
    tried("complete"),
    sixteen,
    7,
  ),
  "tcgen05.cp, then tcgen05.mma into other columns (9.7.16.6.2)": tensor(
    `    @p tcgen05.cp.cta_group::1.128x128b [%a], %m;
    ${product.replace("[%a]", "[%a+32]")}
    ${commit}
    WAIT
    ${load}
    ${tried("end")}`,
    tried("complete"),
    0x3c00_3c00,
    7,
  ),
  "A is overwritten before tcgen05.mma has read it (9.7.16.6)": tensor(
    `    ${product}
    ${commit}
    WAIT
    st.shared.u32 [%s], %z;
    st.shared.u32 [%s+512], %z;
    bar.sync 0;
    ${tried("end")}
    ${load}`,
    tried("complete"),
    sixteen,
    0,
  ),
};

const seeds = [1, 2, 3];

/** With seeds, and with sanitizers, which must see each operation complete when the program does. */
const watched = seeds.flatMap((seed) => [{ seed }, { seed, sanitize: "all" as const }]);

describe.each(Object.entries(programs))("%s", (_, program) => {
  const all = (value: (thread: number) => number): number[] => Array.from({ length: 128 }, (_, t) => value(t));
  test("the wait is there", () => {
    for (const how of [{ engine: "interpreter" }, { engine: "jit" }, ...watched]) {
      expect(run(program, true, how)).toEqual({ seen: all(program.right), codes: [] });
    }
  });
  test("the wait is forgotten", () => {
    for (const engine of ["interpreter", "jit"])
      expect(run(program, false, { engine }).seen).toEqual(all(program.right));
    for (const seed of seeds) {
      const { seen } = run(program, false, { seed });
      // Only some rows are those of the lanes that were overwritten.
      expect(seen).not.toEqual(all(program.right));
      expect(seen).toContain(program.wrong(0));
    }
  });
});

test("an mbarrier may be invalidated before an arrival that nobody waits for (9.7.13.15.11)", () => {
  const invalidated: Program = {
    ...tensor(
      `    ${product}
    ${commit}
    ${product.replace("[%a]", "[%a+32]")}
    @p mbarrier.init.shared.b64 [%b+8], 1;
    ${commit.replace("[%b]", "[%b+8]")}
    @p mbarrier.inval.shared.b64 [%b];
    bar.sync 0;
    ${tried("complete").replace("[%b]", "[%b+8]")}
    ${load}`,
      "",
      sixteen,
      7,
    ),
  };
  for (const how of watched) {
    expect(run(invalidated, true, how)).toEqual({ seen: Array.from({ length: 128 }, () => sixteen), codes: [] });
  }
});
