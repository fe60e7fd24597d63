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
