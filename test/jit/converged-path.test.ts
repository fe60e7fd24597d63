import { describe, expect, test } from "vitest";
import { expectSameReports, expectSameResults, type PtxCase } from "./both-engines.ts";

// Lanes of a chunk that go the same way run code without masks, and leave it where they part, or where an access fails.

const registers =
  ".reg .pred %p<9>; .reg .b32 %i, %j, %k, %n, %s, %t, %v, %w; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b64 %x, %y, %a, %b, %d;";

/**
 * The number of the thread is in `%i`, the addresses of two buffers in `%x` and `%y`, a number of the launch in `%n`.
 */
const kernelOf = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 8 .b8 blob[16]) {
${registers}
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [blob];
mov.u32 %j, %ntid.x; mov.u32 %k, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %k, %j, %t;
${body}
}`;

const floats = (count: number, at: (i: number) => number): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: count }, (_, i) => at(i)).buffer);
const words = (count: number, at: (i: number) => number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => at(i)).buffer);

interface Shape {
  readonly n: number;
  readonly grid: PtxCase["launch"]["grid"];
  readonly block: PtxCase["launch"]["block"];
}

function caseOf(body: string, { n, grid, block }: Shape, buffers: readonly Uint8Array[]): PtxCase {
  return { text: kernelOf(body), buffers, blob: words(4, (i) => (i === 0 ? n : 0)), launch: { grid, block } };
}

const element = "mul.wide.s32 %d, %i, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d;";
const saxpy = `setp.ge.s32 %p1, %i, %n; @%p1 bra END; ${element}
  ld.global.f32 %f1, [%a]; ld.global.f32 %f2, [%b]; fma.rn.f32 %f3, %f1, 0f40200000, %f2; st.global.f32 [%b], %f3; END: ret;`;

describe("one element a thread", () => {
  test.each([32, 40, 100, 256])("of blocks of %i threads, the last of which have none or some", (block) => {
    for (const n of [0, 1, 31, 32, 33, 100, 255, 256, 257, 511]) {
      const buffers = [floats(512, (i) => i / 3), floats(512, (i) => 1 / (i + 1))];
      const [, y] = expectSameResults(caseOf(saxpy, { n, grid: Math.ceil(512 / block), block }, buffers));
      // Behind the end nothing has changed.
      expect(y!.slice(4 * n)).toEqual(buffers[1]!.slice(4 * n));
    }
  });

  test.each([
    ["x", 300, 512],
    ["y", 512, 300],
    ["x, between elements", 299.5, 512],
  ])("past the end of %s", (_, x, y) => {
    const buffers = [new Uint8Array(4 * x), new Uint8Array(4 * y)];
    const reports = expectSameReports(caseOf(saxpy, { n: 512, grid: 2, block: 256 }, buffers));
    expect(reports.map((r) => r.code)).toEqual(["global-out-of-bounds"]);
  });

  test("before the beginning, in the middle of a block", () => {
    const body = saxpy.replace("mul.wide.s32", "sub.s32 %i, 100, %i; mul.wide.s32");
    const reports = expectSameReports(
      caseOf(body, { n: 256, grid: 1, block: 256 }, [new Uint8Array(512), new Uint8Array(512)]),
    );
    expect(reports.map((r) => r.code)).toEqual(["global-out-of-bounds"]);
  });

  test("with indices that go down", () => {
    const body = `setp.ge.u32 %p1, %i, %n; @%p1 bra END; sub.s32 %i, %n, %i; sub.s32 %i, %i, 1; ${element}
      ld.global.u32 %v, [%a]; st.global.u32 [%b], %v; END: ret;`;
    for (const n of [1, 33, 300]) {
      expectSameResults(caseOf(body, { n, grid: 2, block: 160 }, [words(300, (i) => i * 7), words(300, () => 5)]));
    }
  });

  test.each(["s32", "u32"])("with indices that pass the end of %s", (ty) => {
    const start = ty === "s32" ? "0x7fffffc8" : "0xffffffc8";
    const body = `add.u32 %k, %i, ${start}; setp.lt.${ty} %p1, %k, %n; @%p1 bra END; ${element}
      st.global.u32 [%b], %k; END: ret;`;
    for (const n of [0, 0x7fff_ffd0, 0xffff_ffe0]) {
      expectSameResults(caseOf(body, { n, grid: 1, block: 96 }, [words(96, () => 0), words(96, () => 5)]));
    }
  });

  test("with an index whose product wraps around", () => {
    const body = `mad.lo.s32 %k, %i, 0x04000000, 7; mul.wide.s32 %d, %k, 4; add.s64 %a, %x, %d;
      setp.ge.s32 %p1, %i, %n; @%p1 bra END; ld.global.u32 %v, [%a]; END: ret;`;
    const reports = expectSameReports(
      caseOf(body, { n: 200, grid: 1, block: 256 }, [new Uint8Array(256), new Uint8Array(4)]),
    );
    expect(reports.map((r) => r.code)).toEqual(["global-out-of-bounds"]);
  });

  test("a store before an access that fails", () => {
    const body = `setp.ge.s32 %p1, %i, %n; @%p1 bra END; ${element} st.global.u32 [%b], %i; ld.global.u32 %v, [%a+4096];
      st.global.u32 [%b], %v; END: ret;`;
    const buffers = [new Uint8Array(1024), new Uint8Array(1024)];
    expect(expectSameReports(caseOf(body, { n: 256, grid: 1, block: 256 }, buffers))).toHaveLength(1);
  });
});

// The manual's canonical NaN: all results of computations that are none have its bits, whatever their operands had.
describe("NaNs", () => {
  const special = [0x7fc1_2345, 0xffc0_0001, 0x7f80_0001, 0x7f80_0000, 0xff80_0000, 0x7f7f_ffff, 0x8000_0000, 1];
  const buffers = (every: number): readonly Uint8Array[] =>
    [0, 3].map((more) =>
      words(256, (i) => (i % every === 0 ? special[(i / every + more * (i >> 3)) % special.length]! : 0x3f80_0000 + i)),
    );

  test.each([
    "add.rn.f32 %f3, %f1, %f2",
    "mul.rn.f32 %f3, %f1, %f2",
    "fma.rn.f32 %f3, %f1, %f2, %f1",
    "sub.f32 %f3, %f1, %f2",
  ])("%s", (instruction) => {
    const body = saxpy.replace(/fma\.rn[^;]*/, instruction);
    for (const every of [1, 5, 64]) {
      const [, y] = expectSameResults(caseOf(body, { n: 250, grid: 2, block: 128 }, buffers(every)));
      const bits = new Uint32Array(y!.slice(0, 1000).buffer);
      const isNan = (word: number): boolean => (word & 0x7fff_ffff) > 0x7f80_0000;
      expect(new Set(bits.filter(isNan))).toEqual(new Set([0x7fff_ffff]));
    }
  });

  test("of 64 bits, moved on and under a guard", () => {
    const body = `setp.ge.s32 %p1, %i, %n; @%p1 bra END; ${element} ld.global.f32 %f1, [%a]; cvt.f64.f32 %g1, %f1;
      ld.global.f32 %f2, [%b]; setp.gt.f32 %p2, %f2, 0f00000000; mul.wide.s32 %d, %i, 8; add.s64 %d, %y, %d;
      add.f64 %g2, %g1, %g1; @%p2 mul.f64 %g2, %g1, 0d7FF0000000000000; st.global.f64 [%d+1024], %g2; END: ret;`;
    const y = new Uint8Array([...buffers(3)[1]!, ...new Uint8Array(2048)]);
    expectSameResults(caseOf(body, { n: 250, grid: 2, block: 128 }, [buffers(7)[0]!, y]));
  });
});

describe("lanes that part", () => {
  const x = words(512, (i) => (i * 2_654_435_761) >>> 8);
  const y = words(512, (i) => i);
  const all = { n: 500, grid: 2, block: 256 } as const;

  test.each([
    ["one side", "setp.lt.u32 %p1, %v, %s; @%p1 bra B; add.u32 %w, %v, 3; B:"],
    ["two sides", "setp.lt.u32 %p1, %v, %s; @%p1 bra A; add.u32 %w, %v, 3; bra B; A: xor.b32 %w, %v, 85; B:"],
    ["leaving", "setp.lt.u32 %p1, %v, %s; @%p1 ret; add.u32 %w, %v, 3;"],
    ["leaving, the others", "setp.lt.u32 %p1, %v, %s; @!%p1 exit; add.u32 %w, %v, 3;"],
    ["by number", "setp.lt.u32 %p1, %i, %s; @%p1 bra A; add.u32 %w, %v, 3; bra B; A: xor.b32 %w, %v, 85; B:"],
    [
      "by number or data",
      "setp.lt.u32 %p1, %i, %s; setp.gt.u32 %p2, %v, %s; or.pred %p3, %p1, %p2; @%p3 bra A; add.u32 %w, %v, 3; A:",
    ],
    [
      "at both ends",
      "setp.lt.s32 %p1, %i, 37; setp.ge.s32 %p2, %i, %s; or.pred %p3, %p1, %p2; @%p3 bra A; add.u32 %w, %v, 3; A:",
    ],
    [
      "between",
      "setp.ge.s32 %p1, %i, 37; setp.lt.s32 %p2, %i, %s; and.pred %p3, %p1, %p2; @!%p3 bra A; add.u32 %w, %v, 3; A:",
    ],
    [
      "both ways by one test",
      "setp.lt.u32 %p1, %i, %s; not.pred %p2, %p1; @%p2 bra A; add.u32 %w, %v, 3; A: @%p2 add.u32 %w, %w, 9;",
    ],
    ["to the next instruction", "setp.lt.u32 %p1, %v, %s; @%p1 bra A; A: selp.u32 %w, 7, %v, %p1;"],
    [
      "one test for two branches",
      "setp.lt.u32 %p1, %i, %s; @%p1 bra A; add.u32 %w, %w, 3; A: add.u32 %w, %w, 1; @%p1 bra B; add.u32 %w, %w, 5; B:",
    ],
    [
      "a loop of as many rounds for all",
      "mov.u32 %k, 0; A: add.u32 %w, %w, %v; add.u32 %k, %k, 1; setp.lt.u32 %p1, %k, 9; @%p1 bra A;",
    ],
    [
      "a loop by data",
      "mov.u32 %k, %v; A: shr.u32 %k, %k, 3; add.u32 %w, %w, %k; setp.gt.u32 %p1, %k, %s; @%p1 bra A;",
    ],
    [
      "a loop by number, with a stop",
      "mov.u32 %k, %i; A: and.b32 %t, %k, %v; setp.eq.u32 %p2, %t, 3; @%p2 bra B; add.u32 %w, %w, %t; add.s32 %k, %k, 64; setp.lt.s32 %p1, %k, %s; @%p1 bra A; B: add.u32 %w, %w, %k;",
    ],
    [
      "loops in loops",
      "mov.u32 %k, %i; A: mov.u32 %t, 0; B: add.u32 %w, %w, %t; add.u32 %t, %t, 1; setp.lt.u32 %p2, %t, 5; @%p2 bra B; add.s32 %k, %k, 100; setp.lt.s32 %p1, %k, %s; @%p1 bra A;",
    ],
  ])("%s", (_, code) => {
    const body = `setp.ge.s32 %p0, %i, %n; @%p0 bra END; ${element} ld.global.u32 %v, [%a]; mov.u32 %w, 0;
      sub.s32 %s, %n, LIMIT; ${code} st.global.u32 [%b], %w; END: ret;`;
    // All lanes, none, and some of a chunk go one way.
    for (const limit of [500, 470, 300, 0, -4000])
      expectSameResults(caseOf(body.replace("LIMIT", `${limit}`), all, [x, y]));
  });

  test.each([1, 2, 3])("in a loop over the grid, by a pointer that is moved, with blocks of %i warps", (warps) => {
    const loop = `mov.u32 %w, 0; mov.u32 %s, %nctaid.x; mul.lo.s32 %s, %s, %j; mul.wide.s32 %d, %i, 4; add.s64 %a, %x, %d;
      add.s64 %b, %y, %d; mul.wide.s32 %d, %s, 4; setp.ge.s32 %p1, %i, %n; @%p1 bra END;
      A: ld.global.u32 %v, [%a]; add.u32 %w, %w, %v; st.global.u32 [%b], %w; add.s64 %a, %a, %d; add.s64 %b, %b, %d;
      add.s32 %i, %i, %s; setp.lt.s32 %p1, %i, %n; @%p1 bra A; END: ret;`;
    const shape = { grid: 2, block: 32 * warps };
    for (const n of [500, 512, 33, 0]) expectSameResults(caseOf(loop, { n, ...shape }, [x, y]));
    // Behind the end, after some rounds.
    expect(expectSameReports(caseOf(loop, { n: 600, ...shape }, [x, y]))).toHaveLength(1);
  });

  test("inside and at the border of a picture", () => {
    const body = `mov.u32 %j, %ctaid.y; mov.u32 %k, %ntid.y; mov.u32 %t, %tid.y; mad.lo.s32 %j, %j, %k, %t;
      setp.ge.s32 %p1, %i, %n; setp.ge.s32 %p2, %j, %n; or.pred %p3, %p1, %p2; @%p3 bra END;
      mad.lo.s32 %s, %j, %n, %i; mul.wide.s32 %d, %s, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d; ld.global.u32 %v, [%a];
      setp.lt.s32 %p4, %i, 1; setp.lt.s32 %p5, %j, 1; or.pred %p4, %p4, %p5; add.s32 %k, %n, -1;
      setp.ge.s32 %p5, %i, %k; or.pred %p6, %p4, %p5; setp.ge.s32 %p7, %j, %k; or.pred %p8, %p6, %p7; @%p8 bra OUT;
      ld.global.u32 %w, [%a+4]; add.u32 %v, %v, %w; ld.global.u32 %w, [%a+-4]; add.u32 %v, %v, %w;
      sub.s32 %s, %s, %n; mul.wide.s32 %d, %s, 4; add.s64 %a, %x, %d; ld.global.u32 %w, [%a]; add.u32 %v, %v, %w;
      OUT: st.global.u32 [%b], %v; END: ret;`;
    for (const n of [7, 40, 96]) {
      const shape = { n, grid: [3, 24], block: [32, 4] } as const;
      expectSameResults(caseOf(body, shape, [words(n * n, (i) => i * i), words(n * n, () => 1)]));
    }
  });

  test("before and after a barrier", () => {
    const body = `.shared .b32 s[256]; mov.u32 %s, s; mad.lo.s32 %s, %t, 4, %s; mul.wide.s32 %d, %i, 4; add.s64 %a, %x, %d;
      add.s64 %b, %y, %d; mov.u32 %v, 77; setp.ge.s32 %p1, %i, %n; @%p1 bra A; ld.global.u32 %v, [%a]; A: st.shared.u32 [%s], %v;
      bar.sync 0; xor.b32 %t, %t, 1; mov.u32 %w, s; mad.lo.s32 %w, %t, 4, %w; ld.shared.u32 %w, [%w];
      setp.ge.s32 %p1, %i, %n; @%p1 bra END; st.global.u32 [%b], %w; END: ret;`;
    for (const n of [500, 512, 40]) expectSameResults(caseOf(body, { ...all, n }, [x, y]));
  });
});

// Lanes that have parted, and are together again, exchange values without the launcher.
describe("operations of whole warps", () => {
  const x = words(512, (i) => (i * 2_654_435_761) >>> 8);
  const y = words(512, () => 5);
  const sum = (mask: string): string =>
    [16, 8, 4, 2, 1].map((d) => `shfl.sync.down.b32 %t, %w, ${d}, 31, ${mask}; add.u32 %w, %w, %t;`).join(" ");
  const add = "setp.lt.u32 %p1, %v, %s; @%p1 bra A; add.u32 %w, %w, %v; A:";

  test.each([
    ["a sum, stored by one lane", `${sum("-1")} and.b32 %t, %i, 31; setp.ne.u32 %p2, %t, 0; @%p2 bra END;`],
    ["a sum after a branch", `${add} ${sum("-1")}`],
    ["a sum before a branch", `${sum("-1")} ${add}`],
    [
      "a sum into the operand itself",
      `${add} shfl.sync.bfly.b32 %w, %w, 3, 31, -1; shfl.sync.idx.b32 %w, %w, 5, 31, -1;`,
    ],
    ["sums in rounds", `mov.u32 %k, 0; B: ${add} ${sum("-1")} add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, 3; @%p2 bra B;`],
    [
      "sums in as many rounds as each warp has",
      `shr.u32 %k, %i, 5; and.b32 %k, %k, 3; B: ${sum("-1")} sub.u32 %k, %k, 1; setp.lt.s32 %p2, %k, 0; @!%p2 bra B;`,
    ],
    [
      "votes",
      "setp.lt.u32 %p1, %v, %s; vote.sync.ballot.b32 %w, %p1, -1; vote.sync.any.pred %p2, %p1, -1; selp.u32 %w, %w, 1, %p2;",
    ],
    ["the least of all", `${add} redux.sync.min.u32 %w, %w, -1;`],
    ["a barrier of the warp", `${add} bar.warp.sync -1; add.u32 %w, %w, 1;`],
    ["before an access that fails for some lanes", `${add} ${sum("-1")} setp.gt.s32 %p3, %i, %n; @%p3 bra END;`],
    ["lanes that have left", `setp.lt.u32 %p1, %v, %s; @%p1 ret; ${sum("-1")}`],
    ["for half a warp, named by the mask", `and.b32 %t, %i, 16; shl.b32 %k, 0xffff, %t; mov.u32 %j, %k; ${sum("%j")}`],
  ])("%s", (_, code) => {
    const body = `setp.ge.s32 %p0, %i, %n; @%p0 bra END; ${element} ld.global.u32 %v, [%a]; mov.u32 %w, %v;
      sub.s32 %s, %n, LIMIT; ${code} st.global.u32 [%b], %w; END: ret;`;
    for (const n of [512, 500, 480]) {
      for (const limit of [500, 300, -4000, -8_000_000]) {
        expectSameResults(caseOf(body.replace("LIMIT", `${limit}`), { n, grid: 2, block: 256 }, [x, y]));
      }
    }
  });

  test("an access after an exchange that overwrites its operand fails in the last warp", () => {
    const body = `${element} ld.global.u32 %w, [%a]; and.b32 %t, %i, 1; setp.eq.u32 %p1, %t, 0; @%p1 bra A; add.u32 %w, %w, 1;
      A: shfl.sync.down.b32 %w, %w, 1, 31, -1; ld.global.u32 %v, [%b+400]; add.u32 %w, %w, %v; st.global.u32 [%b], %w; ret;`;
    expect(expectSameReports(caseOf(body, { n: 0, grid: 2, block: 256 }, [x, y]))).toHaveLength(1);
  });
});
