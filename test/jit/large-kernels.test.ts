import { expect, test } from "vitest";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";

// Kernels that are large in one way: nothing that goes through them may nest as deeply as they are long.

const kernel = (body: readonly string[]): string => `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 t, x, r<4001>; .reg .b64 o, d; .reg .pred p;
  ld.param.u64 o, [out];
  mov.u32 t, %tid.x; mad.wide.u32 o, t, 4, o; mov.u32 x, 0; mov.u32 r0, t;
  ${body.join("\n  ")}
  st.global.u32 [o], x;
  ret;
}`;

const times = (count: number, make: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** What thread t leaves of each. */
const cases: Readonly<Record<string, { text: string; want: (t: number) => number }>> = {
  "branches one after the other": {
    text: kernel(times(2500, (i) => `setp.gt.u32 p, t, ${i % 32};\n  @p bra L${i};\n  add.u32 x, x, 1;\nL${i}:`)),
    // One for each bound that is not less than t.
    want: (t) => times(2500, String).filter((i) => t <= Number(i) % 32).length,
  },
  "loops that lanes leave one by one": {
    text: kernel([
      "and.b32 r2, t, 7;",
      ...times(
        600,
        (i) => `mov.u32 r1, 0;\nL${i}:\n  add.u32 r1, r1, 1; add.u32 x, x, r1; setp.lt.u32 p, r1, r2;\n  @p bra L${i};`,
      ),
    ]),
    // Of each loop 1 + 2 + … + n, and one round at least.
    want: (t) => {
      const rounds = Math.max(1, t % 8);
      return (600 * rounds * (rounds + 1)) / 2;
    },
  },
  "moves from register to register": {
    text: kernel([...times(4000, (i) => `mov.b32 r${i + 1}, r${i};`), "mov.b32 x, r4000;"]),
    want: (t) => t,
  },
  "accesses one after the other": {
    text: kernel([...times(3000, () => "st.global.u32 [o], x; ld.global.u32 x, [o];"), "add.u32 x, x, t;"]),
    want: (t) => t,
  },
  "registers of which there are more than locals": {
    text: kernel([
      ...times(4000, (i) => `add.u32 r${i + 1}, r0, ${i};`),
      ...times(1500, (i) => `setp.gt.u32 p, t, ${i % 32};\n  @p bra L${i};\n  add.u32 x, x, r${2 * i + 1};\nL${i}:`),
      ...times(4000, (i) => `sub.u32 x, x, r${i + 1};`),
    ]),
    want: (t) => {
      const added = times(1500, String).reduce((sum, _, i) => sum + (t <= i % 32 ? t + 2 * i : 0), 0);
      return (added - times(4000, String).reduce((sum, _, i) => sum + t + i, 0)) >>> 0;
    },
  },
  "so much that it is better short": {
    text: kernel([
      "and.b32 r1, t, 1; setp.eq.u32 p, r1, 0; shr.u32 r2, t, 1; mul.lo.u32 r2, r2, 8;",
      // Each odd lane has the word of the even one before it, and the even ones nothing.
      "ld.param.u64 o, [out]; cvt.u64.u32 d, r2; add.u64 o, o, d; add.u64 d, o, 4;",
      ...times(7000, () => "@!p ld.global.u32 x, [d]; add.u32 x, x, 1; @!p st.global.u32 [d], x;"),
      "@p mov.b64 d, o; ",
      "mov.b64 o, d;",
    ]),
    // Even lanes have counted for themselves.
    want: () => 7000,
  },
};

test.each(Object.entries(cases))("%s", (_, { text, want }) => {
  const device = new PtxDevice({ kernelStore: false });
  const out = device.buffer("u32", 32);
  const { ok, engine } = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: 32, args: [out] });
  expect({ ok, engine }).toEqual({ ok: true, engine: "jit" });
  expect([...out.read()]).toEqual(times(32, String).map((t) => want(Number(t))));
});
