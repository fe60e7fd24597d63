import { describe, expect, test } from "vitest";
import { expectSame } from "../harness.ts";
import { Analysed, oneRow } from "./analysed.ts";

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x];\n";
const barriersOf = (body: string, single = true) =>
  new Analysed(`${begin}${body}\nret;`, { ...oneRow, single }).pauses.barriers.size;

const loop = `mov.u32 %r1, 0; bra HEAD;
TAIL: bar.sync 0; add.u32 %r1, %r1, 1;
HEAD: setp.eq.u32 %p0, %r1, %s0; @%p0 bra DONE;
setp.gt.u32 %p1, %r0, %r1; @%p1 bra TAIL;
st.global.u32 [%x0+4], %r1; bra TAIL;
DONE:`;

describe("in a block of one chunk nobody waits at barriers", () => {
  test("to which its lanes come together, on whatever ways", () => {
    expect(barriersOf(loop)).toBe(0);
    expect(barriersOf(loop, false)).toBe(1);
  });

  test("unless some may come alone", () => {
    expect(barriersOf("setp.gt.u32 %p0, %r0, 3; @%p0 bra NEXT; bar.sync 0;\nNEXT: bar.sync 0;")).toBe(2);
    expect(barriersOf("setp.gt.u32 %p0, %r0, 3; @%p0 bar.sync 0;")).toBe(1);
  });

  test("or a barrier is more than one for all threads", () => {
    expect(barriersOf("bar.sync 1, 32;")).toBe(1);
    expect(barriersOf("bar.red.popc.u32 %r1, 0, %p0;")).toBe(1);
  });
});

test("lanes that come to a barrier on their own wait for the others", () => {
  const body = `.reg .b32 %a; mov.u32 %a, s; mad.lo.u32 %a, %t, 4, %a; mov.u32 %r1, 0;
    setp.lt.u32 %p1, %t, 5; @%p1 bra $FEW; st.shared.b32 [%a], %t; bar.sync 0; bra $AFTER;
    $FEW: mul.lo.u32 %r2, %t, 3; st.shared.b32 [%a], %r2; bar.sync 0;
    $AFTER: mov.u32 %r3, s; sub.u32 %r4, 15, %t; mad.lo.u32 %r3, %r4, 4, %r3; ld.shared.b32 %r5, [%r3];
    st.global.b32 [%out], %r5; ret;`;
  const block = [16, 1, 1] as const;
  expect(expectSame({ name: "", before: ".shared .b32 s[16];", body, block, words: 1 }).reports).toEqual([]);
});
