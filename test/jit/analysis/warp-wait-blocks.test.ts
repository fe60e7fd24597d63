import { describe, expect, test } from "vitest";
import { WarpWaitBlocks } from "../../../src/jit/compile/analysis/flow/warp-wait-blocks.ts";
import { Analysed, oneRow } from "./analysed.ts";

const inWarps = { ...oneRow, quads: 8 } as const;

const begin = "mov.u32 %r0, %tid.x; ld.param.u64 %x0, [x]; setp.lt.u32 %p0, %r0, 5;\n";

test("lanes that are apart wait at a warp operation that names others", () => {
  const code = new Analysed(
    `${begin}@%p0 bra SECOND;
bar.warp.sync 0xffffffff;
bra END;
SECOND: bar.warp.sync 0xffffffff;
END: ret;`,
    inWarps,
  );
  const waits = new WarpWaitBlocks(code.analysis);
  expect(waits.all).toEqual([code.blockOf(2), code.blockOf(4)]);
  // Both are for the same: at the second, lanes that wait at the first may be released.
  expect(waits.releasedBy(code.blockOf(4))).toContain(code.blockOf(2));
});

test("lanes that are together need not wait", () => {
  const code = new Analysed(`${begin}bar.warp.sync 0xffffffff;\nret;`, inWarps);
  expect(new WarpWaitBlocks(code.analysis).all).toEqual([]);
});

test("nor do those that name the active lanes alone", () => {
  const code = new Analysed(
    `${begin}@%p0 bra END;
activemask.b32 %r1;
bar.warp.sync %r1;
END: ret;`,
    inWarps,
  );
  expect(new WarpWaitBlocks(code.analysis).all).toEqual([]);
});

const afterWaits = (barrier: string): string => `${begin}mov.u32 %r2, -1;
AGAIN: ld.volatile.u32 %r1, [%x0];
setp.eq.u32 %p1, %r1, %r0;
@%p1 bra AGAIN;
setp.ne.u32 %p2, %r1, 0;
vote.sync.ballot.b32 %r2, %p2, %r2;
@%p0 bra OVER;
@%p2 bra AGAIN;
OVER: st.u32 [%x0], %r2;
${barrier}
shfl.sync.down.b32 %r3, %r0, 1, 31, -1;
setp.eq.u32 %p0, %r3, 3;
@%p0 bra END;
st.u32 [%x0+4], %r3;
END: ret;`;

test("a barrier for all threads releases lanes when none waits for its warp, or in a loop", () => {
  const code = new Analysed(afterWaits("bar.sync 0;"), inWarps);
  const waits = new WarpWaitBlocks(code.analysis);
  expect(waits.all).toEqual([code.blockOf(6)]);
  expect([...code.analysis.divergence.waiting(code.blockOf(11))]).toEqual([]);
  expect(code.analysis.isPartial(code.blockOf(11))).toBe(false);
});

test.each([
  ["with a guard", "@%p1 bar.sync 0;"],
  ["for some of the threads", "bar.sync 0, 32;"],
  ["for which others need not wait", "bar.arrive 0, 64; bar.sync 0, 64;"],
])("not a barrier %s", (_, barrier) => {
  const code = new Analysed(afterWaits(barrier), inWarps);
  expect([...code.analysis.divergence.waiting(code.blockOf(11))]).not.toEqual([]);
});

describe("where thread numbers say who comes", () => {
  const known = (x: number) => ({ ...inWarps, block: [x, 1, 1] as const, full: x % 32 === 0 });
  const waitsOf = (body: string, threads = 64): readonly number[] =>
    new WarpWaitBlocks(
      new Analysed(`${begin}and.b32 %r9, %r0, 31; setp.lt.u32 %p1, %r9, 8;\n${body}`, known(threads)).analysis,
    ).all;
  const some = (mask: string): string => `@!%p1 bra END;\nbar.warp.sync ${mask};\nEND: ret;`;

  test("lanes that name each other need not wait", () => {
    expect(waitsOf(some("0xff"))).toEqual([]);
  });

  test("they do if they name more, or fewer", () => {
    expect(waitsOf(some("-1"))).toHaveLength(1);
    expect(waitsOf(some("0x7f"))).toHaveLength(1);
  });

  test("lanes that do not exist may be named", () => {
    expect(waitsOf(some("0xffff"), 8)).toEqual([]);
    expect(waitsOf(some("0xffff"), 9)).toHaveLength(1);
  });

  test("the mask may be another in each warp", () => {
    const own = "setp.lt.u32 %p2, %r0, 32;\nselp.b32 %r1, 0xff, 0xf, %p2;\nsetp.lt.u32 %p3, %r9, 4;";
    const body = `${own}\nand.pred %p1, %p1, %p3;\n@%p2 setp.lt.u32 %p1, %r9, 8;\n`;
    // A condition that is written twice is not known.
    expect(waitsOf(`${body}${some("%r1")}`)).toHaveLength(1);
    const once = "or.pred %p4, %p2, %p3;\nand.pred %p5, %p1, %p4;\n@!%p5 bra END;\nbar.warp.sync %r1;\nEND: ret;";
    expect(waitsOf(`${own}\n${once}`)).toEqual([]);
  });

  const voted = (mask: string, p: string): string =>
    `vote.sync.ballot.b32 %r1, ${p}, ${mask};\n@!%p1 bra END;\nbar.warp.sync %r1;\nEND: ret;`;

  test("the mask may be what all lanes have voted for", () => {
    expect(waitsOf(voted("-1", "%p1"))).toEqual([]);
    expect(waitsOf(voted("-1", "%p1"), 40)).toEqual([]);
    expect(waitsOf(voted("-1", "%p0"))).toHaveLength(1);
    // Of those who vote some are not named.
    expect(waitsOf(voted("0xff", "%p1"))).toHaveLength(1);
    const twice = `setp.lt.u32 %p2, %r0, 32;\n@%p2 bra ELSE;\nmov.u32 %r1, 0xf;\nELSE: ${voted("-1", "%p1")}`;
    // Nobody waits for those that have ended.
    expect(waitsOf(`${loaded}\n@%p6 ret;\n${voted("-1", "%p1").replace("ret", "st.u32 [%x0], %r0;\nret")}`)).toEqual(
      [],
    );
    expect(waitsOf(twice)).toEqual([]);
  });

  const loaded = "ld.u32 %r2, [%x0];\nsetp.eq.u32 %p6, %r2, %r0;";

  test("they may have been apart, if they are together again", () => {
    expect(
      waitsOf(`${loaded}\n@!%p1 bra END;\n@%p6 bra JOIN;\nst.u32 [%x0], %r2;\nJOIN: bar.warp.sync 0xff;\nEND: ret;`),
    ).toEqual([]);
  });

  test("some of them wait for those that come from a later place", () => {
    const body =
      "@!%p1 bra END;\n@%p6 bra LATE;\nJOIN: bar.warp.sync 0xff;\nbra END;\nLATE: st.u32 [%x0], %r2;\nbra JOIN;";
    expect(waitsOf(`${loaded}\n${body}\nEND: ret;`)).toHaveLength(1);
  });

  test("some of them may have ended", () => {
    const body = "@!%p1 bra END;\n@%p6 ret;\nbar.warp.sync 0xff;\nEND: st.u32 [%x0], %r0;\nret;";
    expect(waitsOf(`${loaded}\n${body}`)).toEqual([]);
  });

  test("it is not known in blocks of any size", () => {
    const { analysis } = new Analysed(
      `${begin}and.b32 %r9, %r0, 31;\nsetp.lt.u32 %p1, %r9, 8;\n${some("0xff")}`,
      inWarps,
    );
    expect(new WarpWaitBlocks(analysis).all).toHaveLength(1);
  });
});
