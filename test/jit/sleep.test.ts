import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

test("lanes that sleep while they wait for others", () => {
  const { out, reports } = expectSame({
    name: "",
    // The second warp stores what the first waits for.
    body: `.shared .b32 flag; mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 32; @%p0 bra $SET; mov.u32 %r1, 0;
      $WAIT: nanosleep.u32 100; ld.volatile.shared.b32 %r2, [flag]; add.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra $WAIT;
      st.global.b32 [%out], %r2; ret;
      $SET: st.volatile.shared.b32 [flag], 7; ret;`,
    block: [64, 1, 1],
  });
  expect(reports).toEqual([]);
  expect(out[0]).toBe(7);
});
