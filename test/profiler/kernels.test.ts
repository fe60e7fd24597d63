import { describe, expect, test } from "vitest";
import { type CountName, Device, type LineProfile, type Profile, Profiler, profileOf } from "../../src/index.ts";
import type { KernelArgument, KernelResult } from "../../src/index.ts";

interface Launched {
  readonly profile: Profile;
  readonly result: KernelResult;
  /** Returns the line that ends with this comment. */
  line(mark: string): LineProfile;
}

function launch(
  ptx: string,
  size: { readonly grid: number; readonly block: number },
  args: (device: Device) => KernelArgument[],
  target = "sm_75",
): Launched {
  const device = new Device();
  const profiler = new Profiler();
  const text = `.version 8.6\n.target ${target}\n.address_size 64\n${ptx}`;
  const kernel = device.load(text).kernel("k");
  const result = kernel.launch({ ...size, args: args(device), observers: [profiler] });
  expect(result.reports).toEqual([]);
  const profile = profileOf(profiler);
  const line = (mark: string): LineProfile => {
    const found = profile.lines.find((l) => l.source.line(l.line).endsWith(`// ${mark}`));
    if (!found) throw new Error(`no line ${mark} was executed`);
    return found;
  };
  return { profile, result, line };
}

const counts = (line: LineProfile, ...names: CountName[]): number[] => names.map((name) => line.counts[name]);

test.each([1, 2, 3, 4, 8, 20])("a copy with stride %i: sectors of each load and store", (stride) => {
  const { line, profile, result } = launch(
    `.visible .entry k(.param .u64 to, .param .u64 from, .param .u32 stride)
    {
      .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f;
      ld.param.u64 %d1, [to];
      ld.param.u64 %d2, [from];
      ld.param.u32 %r1, [stride];
      mov.u32 %r2, %tid.x;
      mul.lo.u32 %r3, %r1, %r2;
      mad.wide.u32 %d1, %r3, 4, %d1;
      mad.wide.u32 %d2, %r3, 4, %d2;
      ld.global.f32 %f, [%d2]; // load
      st.global.f32 [%d1], %f; // store
      ret;
    }`,
    { grid: 1, block: 64 },
    (d) => [d.buffer("f32", 64 * stride), d.buffer("f32", 64 * stride), stride],
  );
  // Buffers begin at multiples of 256 bytes; warp 1 starts 128 * stride bytes after warp 0.
  const sectors = new Set(Array.from({ length: 64 }, (_, i) => `${i >> 5} ${(4 * stride * i) >> 5}`)).size;
  for (const mark of ["load", "store"]) {
    expect(counts(line(mark), "globalRequests", "globalSectors", "globalLeastSectors", "globalBytes")).toEqual([
      2,
      sectors,
      8,
      256,
    ]);
  }
  // Ten instructions, two warps, all lanes.
  expect(profile.totals.warpInstructions).toBe(20);
  expect(profile.totals.threadInstructions).toBe(640);
  expect(profile.totals.constantRequests).toBe(6);
  expect(result.steps).toBe(profile.totals.reachedLanes);
});

test.each([
  ["unpadded", 32, 32],
  ["padded", 33, 1],
])("a transpose through an %s tile: %i words to a row", (_, pitch, passes) => {
  const { line, profile } = launch(
    `.shared .align 4 .b8 tile[4224];
    .visible .entry k(.param .u64 out)
    {
      .reg .b32 %r<8>; .reg .b64 %d;
      mov.u32 %r1, %tid.x;
      and.b32 %r2, %r1, 31;
      shr.u32 %r3, %r1, 5;
      mov.u32 %r4, tile;
      mad.lo.u32 %r5, %r3, ${4 * pitch}, %r4;
      mad.lo.u32 %r5, %r2, 4, %r5;
      st.shared.u32 [%r5], %r1; // rows
      bar.sync 0;
      mad.lo.u32 %r6, %r2, ${4 * pitch}, %r4;
      mad.lo.u32 %r6, %r3, 4, %r6;
      ld.shared.u32 %r7, [%r6]; // columns
      ld.param.u64 %d, [out];
      mad.wide.u32 %d, %r1, 4, %d;
      st.global.u32 [%d], %r7;
      ret;
    }`,
    { grid: 1, block: 1024 },
    (d) => [d.buffer("u32", 1024)],
  );
  expect(counts(line("rows"), "sharedRequests", "sharedPasses", "sharedConflicts")).toEqual([32, 32, 0]);
  expect(counts(line("columns"), "sharedRequests", "sharedPasses", "sharedConflicts")).toEqual([
    32,
    32 * passes,
    32 * (passes - 1),
  ]);
  expect(profile.totals.sharedBytes).toBe(2 * 4096);
});

/** Escape times of the points of a row, as the kernel below computes them. */
function escapeTimes(n: number, limit: number): number[] {
  const f = Math.fround;
  return Array.from({ length: n }, (_, i) => {
    const [cx, cy] = [f(f(f(i) * f(2.5 / 128)) - 2), 0.25];
    let [x, y] = [0, 0];
    let times = 0;
    for (; times < limit; ) {
      const [xx, yy] = [f(x * x), f(y * y)];
      y = f(f(f(2 * x) * y) + cy);
      x = f(f(xx - yy) + cx);
      times++;
      if (f(f(x * x) + f(y * y)) > 4) break;
    }
    return times;
  });
}

test("a row of the Mandelbrot set: how long lanes stay, and where warps diverge", () => {
  const limit = 50;
  const { line, profile, result } = launch(
    `.visible .entry k(.param .u64 out)
    {
      .reg .b32 %i, %n; .reg .b64 %d; .reg .f32 %x, %y, %cx, %xx, %yy, %t; .reg .pred %far, %more;
      mov.u32 %i, %tid.x;
      cvt.rn.f32.u32 %cx, %i;
      mul.rn.f32 %cx, %cx, ${2.5 / 128};
      sub.rn.f32 %cx, %cx, 2.0;
      mov.f32 %x, 0.0;
      mov.f32 %y, 0.0;
      mov.u32 %n, 0;
    again:
      mul.rn.f32 %xx, %x, %x; // body
      mul.rn.f32 %yy, %y, %y;
      add.rn.f32 %t, %x, %x;
      mul.rn.f32 %y, %t, %y;
      add.rn.f32 %y, %y, 0.25;
      sub.rn.f32 %x, %xx, %yy;
      add.rn.f32 %x, %x, %cx;
      add.u32 %n, %n, 1;
      mul.rn.f32 %xx, %x, %x;
      mul.rn.f32 %yy, %y, %y;
      add.rn.f32 %t, %xx, %yy;
      setp.gt.f32 %far, %t, 4.0;
      @%far bra done; // escape
      setp.lt.u32 %more, %n, ${limit};
      @%more bra again;
    done:
      ld.param.u64 %d, [out];
      mad.wide.u32 %d, %i, 4, %d;
      st.global.u32 [%d], %n; // result
      ret;
    }`,
    { grid: 1, block: 128 },
    (d) => [d.buffer("u32", 128)],
  );
  const times = escapeTimes(128, limit);
  const warps = [0, 1, 2, 3].map((w) => times.slice(32 * w, 32 * w + 32));
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  const rounds = sum(warps.map((w) => Math.max(...w)));
  // A warp diverges in every iteration, except its last, in which some lanes escape; lanes that reach the limit do not
  // count.
  const parts = sum(warps.map((w) => new Set(w.filter((n) => n < Math.max(...w))).size));
  expect(parts).toBeGreaterThan(10);
  expect(counts(line("body"), "warpInstructions", "threadInstructions")).toEqual([rounds, sum(times)]);
  const atEscape = counts(line("escape"), "branches", "divergentBranches", "threadInstructions");
  expect(atEscape).toEqual([rounds, parts, sum(times)]);
  expect(counts(line("result"), "warpInstructions", "threadInstructions")).toEqual([4, 128]);
  expect(result.steps).toBe(profile.totals.reachedLanes);
});

test("a histogram: lanes at the same counter take turns at it", () => {
  const data = Uint32Array.from({ length: 256 }, (_, i) => ((i * i * 7) ^ (i >> 3)) % 13);
  const { line } = launch(
    `.shared .align 4 .b8 bins[52];
    .visible .entry k(.param .u64 data)
    {
      .reg .b32 %i, %v, %a, %old; .reg .b64 %d;
      mov.u32 %i, %tid.x;
      ld.param.u64 %d, [data];
      mad.wide.u32 %d, %i, 4, %d;
      ld.global.u32 %v, [%d];
      mov.u32 %a, bins;
      mad.lo.u32 %a, %v, 4, %a;
      atom.shared.add.u32 %old, [%a], 1; // count
      ret;
    }`,
    { grid: 1, block: 256 },
    (d) => [d.buffer(data)],
  );
  let addresses = 0;
  let rounds = 0;
  for (let w = 0; w < 8; w++) {
    const bins = new Map<number, number>();
    for (const v of data.subarray(32 * w, 32 * w + 32)) bins.set(v, (bins.get(v) ?? 0) + 1);
    addresses += bins.size;
    rounds += Math.max(...bins.values());
  }
  expect(counts(line("count"), "atomicRequests", "atomicLanes", "atomicAddresses", "atomicRounds")).toEqual([
    8,
    256,
    addresses,
    rounds,
  ]);
  // 13 neighbouring words, no two of them in one bank.
  expect(counts(line("count"), "sharedPasses", "sharedConflicts")).toEqual([8, 0]);
});

const fibonacci = `.func (.param .u32 result) fib (.param .u32 n)
    {
      .reg .b32 %n, %a, %b; .reg .pred %small;
      ld.param.u32 %n, [n];
      setp.lt.u32 %small, %n, 2;
      @%small bra base;
      sub.u32 %a, %n, 1;
      { .param .u32 x, y; st.param.u32 [x], %a; call (y), fib, (x); // first
        ld.param.u32 %a, [y]; }
      sub.u32 %b, %n, 2;
      { .param .u32 x, y; st.param.u32 [x], %b; call (y), fib, (x); // second
        ld.param.u32 %b, [y]; }
      add.u32 %n, %a, %b;
    base:
      st.param.u32 [result], %n;
      ret;
    }
    .visible .entry k(.param .u64 out, .param .u32 step)
    {
      .reg .b32 %i, %n, %r; .reg .b64 %d;
      mov.u32 %i, %tid.x;
      ld.param.u32 %n, [step];
      mul.lo.u32 %n, %n, %i;
      shr.u32 %n, %n, 2;
      add.u32 %n, %n, 3;
      { .param .u32 x, y; st.param.u32 [x], %n; call (y), fib, (x); // outer
        ld.param.u32 %r, [y]; }
      ld.param.u64 %d, [out];
      mad.wide.u32 %d, %i, 4, %d;
      st.global.u32 [%d], %r;
      ret;
    }`;

/** The number of calls of one evaluation, itself included: 2 fib(n + 1) - 1. */
const evaluations = (n: number): number => (n < 2 ? 1 : 1 + evaluations(n - 1) + evaluations(n - 2));

describe("a recursion", () => {
  test("lanes with the same argument: as many calls as a single lane", () => {
    const { line, profile } = launch(fibonacci, { grid: 1, block: 32 }, (d) => [d.buffer("u32", 32), 0]);
    expect(evaluations(3)).toBe(5);
    expect(profile.totals.calls).toBe(5);
    expect(profile.totals.callLanes).toBe(5 * 32);
    const fib = profile.functions.find((f) => f.name === "fib")!;
    // fib(3) -> fib(2) -> fib(1): three activations below the kernel.
    expect([fib.calls, fib.deepest]).toEqual([5, 3]);
    expect(counts(line("outer"), "calls", "callLanes")).toEqual([1, 32]);
    expect(line("outer").targets).toEqual([{ function: "fib", lanes: 32 }]);
  });

  test("lanes with different depths", () => {
    const { profile, result } = launch(fibonacci, { grid: 1, block: 32 }, (d) => [d.buffer("u32", 32), 1]);
    const ns = Array.from({ length: 32 }, (_, i) => 3 + (i >> 2));
    expect(profile.totals.callLanes).toBe(ns.reduce((sum, n) => sum + evaluations(n), 0));
    expect(profile.functions.find((f) => f.name === "fib")!.deepest).toBe(10);
    expect(result.steps).toBe(profile.totals.reachedLanes);
    // The tree is complete: the costs of all its nodes add up to the cost of the launch.
    const [root] = profile.calls;
    expect(root!.warpInstructions).toBe(profile.totals.warpInstructions);
    expect(root!.threadInstructions).toBe(profile.totals.threadInstructions);
    const own = profile.functions.reduce((sum, f) => sum + f.counts.warpInstructions, 0);
    expect(own).toBe(profile.totals.warpInstructions);
    const fib = profile.functions.find((f) => f.name === "fib")!;
    expect(fib.warpInstructions).toBe(fib.counts.warpInstructions);
  });
});

test("waits at a barrier", () => {
  // Warp 1 executes three instructions more. The kernel's guarded branch does not diverge in either warp.
  const { line } = launch(
    `.visible .entry k()
    {
      .reg .b32 %r; .reg .pred %p;
      mov.u32 %r, %tid.x;
      setp.lt.u32 %p, %r, 32;
      @%p bra meet;
      add.u32 %r, %r, 1;
      add.u32 %r, %r, 1;
      add.u32 %r, %r, 1;
    meet:
      bar.sync 0; // barrier
      ret;
    }`,
    { grid: 1, block: 64 },
    () => [],
  );
  // Warp 0 arrives after 4 instructions. Then warp 1 takes 7, which is 3 more than warp 0, and does not wait.
  expect(counts(line("barrier"), "barrierArrivals", "barrierWaited", "barrierBehind")).toEqual([2, 7, 3]);
});

test("products of matrices", () => {
  const { line, profile } = launch(
    `.visible .entry k()
    {
      .reg .b32 %a<4>, %d<4>; .reg .b64 %b; .shared .align 128 .b8 buf[1024];
      mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0;
      mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;
      mov.b64 %b, 0x0000001000080000;
      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%a0, %a1}, {%d0, %d1, %d2, %d3}; // mma
      wgmma.fence.sync.aligned;
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, 1, 1, 1, 0; // wgmma
      ret;
    }`,
    { grid: 1, block: 128 },
    () => [],
    "sm_90a",
  );
  // 16 * 8 * 16 in each of four warps; the warpgroup computes 64 * 8 * 16 in all.
  for (const mark of ["mma", "wgmma"])
    expect(counts(line(mark), "matrixProducts", "multiplyAdds")).toEqual([4, 64 * 8 * 16]);
  expect(profile.totals.multiplyAdds).toBe(2 * 64 * 8 * 16);
});

test("asynchronous copies, by lanes, and the bytes that they write", () => {
  const { line, profile } = launch(
    `.visible .entry k(.param .u64 in)
    {
      .reg .pred %first; .reg .b32 %t, %to; .reg .b64 %in, %bar;
      .shared .align 128 .b8 buf[1024]; .shared .align 8 .b64 bar;
      ld.param.u64 %in, [in];
      mov.u32 %t, %tid.x;
      setp.eq.u32 %first, %t, 0;
      mov.u32 %to, buf;
      mad.lo.u32 %to, %t, 16, %to;
      mad.wide.u32 %in, %t, 16, %in;
      cp.async.cg.shared.global [%to], [%in], 16; // async
      cp.async.wait_all;
      @%first mbarrier.init.shared::cta.b64 [bar], 1;
      @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%in], 512, [bar]; // bulk
      ret;
    }`,
    { grid: 1, block: 32 },
    (device) => [device.buffer(new Uint8Array(512))],
    "sm_90a",
  );
  expect(counts(line("async"), "asyncCopies", "asyncBytes")).toEqual([32, 512]);
  expect(counts(line("bulk"), "asyncCopies", "asyncBytes")).toEqual([1, 512]);
  expect(profile.totals.asyncBytes).toBe(1024);
});

test("a product into tensor memory counts once for each thread that issues it", () => {
  // Instruction descriptor: D is f32 (bit 4), N = 8 (bits 17 to 22: 1), M = 128 (bits 24 to 28: 8); k is 16 for f16.
  const { line } = launch(
    `.visible .entry k()
    {
      .reg .pred %first; .reg .b32 %t, %d, %what; .reg .b64 %a;
      .shared .align 128 .b8 buf[16384]; .shared .b32 columns;
      mov.u32 %t, %tid.x;
      setp.eq.u32 %first, %t, 0;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [columns], 32;
      bar.warp.sync -1;
      ld.shared.b32 %d, [columns];
      mov.b32 %what, 0x08020010;
      mov.b64 %a, 0x0000401000080000;
      @%first tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %a, %what, 0; // mma
      bar.warp.sync -1;
      tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 32;
      ret;
    }`,
    { grid: 1, block: 32 },
    () => [],
    "sm_100a",
  );
  expect(counts(line("mma"), "matrixProducts", "multiplyAdds")).toEqual([1, 128 * 8 * 16]);
});

test("in a recursion deeper than the call tree, deeper calls count where the tree was cut", () => {
  const { profile } = launch(
    `.func down (.param .u32 n)
    {
      .reg .b32 %n; .reg .pred %p;
      ld.param.u32 %n, [n];
      setp.eq.u32 %p, %n, 0;
      @%p ret;
      sub.u32 %n, %n, 1;
      { .param .u32 x; st.param.u32 [x], %n; call down, (x); }
      ret;
    }
    .visible .entry k()
    {
      { .param .u32 x; st.param.u32 [x], 300; call down, (x); }
      ret;
    }`,
    { grid: 1, block: 1 },
    () => [],
  );
  expect(profile.callsCut).toBe(true);
  expect(profile.functions.find((f) => f.name === "down")).toMatchObject({ calls: 301, deepest: 301 });
  let [node] = profile.calls;
  expect(node!.warpInstructions).toBe(profile.totals.warpInstructions);
  let depth = 0;
  for (; node?.children[0] !== undefined; node = node.children[0]) depth++;
  expect([depth, node?.calls]).toEqual([128, 301 - 127]);
});

test("an indirect call that splits a warp", () => {
  const { line } = launch(
    `.func a () { ret; }
    .func b () { ret; }
    .func c () { ret; }
    .global .u64 table[3] = { a, b, c };
    .visible .entry k()
    {
      .reg .b32 %r; .reg .b64 %d;
      mov.u32 %r, %tid.x;
      rem.u32 %r, %r, 3;
      mov.u64 %d, table;
      mad.wide.u32 %d, %r, 8, %d;
      ld.global.u64 %d, [%d]; // load
    list: .calltargets a, b, c;
      call %d, list; // call
      ret;
    }`,
    { grid: 2, block: 32 },
    () => [],
  );
  expect(counts(line("call"), "calls", "callLanes", "divergentCalls")).toEqual([2, 64, 2]);
  // 32 lanes: 11 have remainder 0, 11 have 1, 10 have 2.
  expect(line("call").targets).toEqual([
    { function: "a", lanes: 22 },
    { function: "b", lanes: 22 },
    { function: "c", lanes: 20 },
  ]);
  // 24 bytes, three addresses.
  expect(counts(line("load"), "globalSectors", "globalLeastSectors")).toEqual([2, 2]);
});

test("an instruction is issued even if its guard holds for few lanes or none", () => {
  const { line } = launch(
    `.visible .entry k()
    {
      .reg .b32 %r; .reg .pred %p, %q;
      mov.u32 %r, %tid.x;
      setp.lt.u32 %p, %r, 5;
      setp.gt.u32 %q, %r, 99;
      @%p add.u32 %r, %r, 1; // some
      @%q add.u32 %r, %r, 1; // none
      ret;
    }`,
    { grid: 1, block: 32 },
    () => [],
  );
  const names = ["warpInstructions", "threadInstructions", "reachedLanes", "laneSlots"] as const;
  expect(counts(line("some"), ...names)).toEqual([1, 5, 32, 32]);
  expect(counts(line("none"), ...names)).toEqual([1, 0, 32, 32]);
});

test("the same launch gives the same profile", () => {
  const profiles = [0, 1].map(() => {
    const { profile } = launch(fibonacci, { grid: 2, block: 40 }, (d) => [d.buffer("u32", 40), 1]);
    return JSON.stringify({
      ...profile,
      lines: profile.lines.map(({ line, counts }) => ({ line, counts })),
      functions: 0,
    });
  });
  expect(profiles[0]).toBe(profiles[1]);
});
