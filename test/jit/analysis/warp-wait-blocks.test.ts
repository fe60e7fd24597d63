import { expect, test } from "vitest";
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
