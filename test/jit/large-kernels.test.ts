import { expect, test } from "vitest";
import { PtxDevice } from "../../src/runtime/ptx-device.ts";

// Kernels that are large in one way: nothing that goes through them may nest as deeply as they are long.

const kernel = (body: readonly string[]): string => `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 t, x, r<4001>; .reg .b64 o; .reg .pred p;
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
  "branches one behind the other": {
    text: kernel(times(2500, (i) => `setp.gt.u32 p, t, ${i % 32};\n  @p bra L${i};\n  add.u32 x, x, 1;\nL${i}:`)),
    // One for each bound that is not less than t.
    want: (t) => times(2500, String).filter((i) => t <= Number(i) % 32).length,
  },
  "moves from register to register": {
    text: kernel([...times(4000, (i) => `mov.b32 r${i + 1}, r${i};`), "mov.b32 x, r4000;"]),
    want: (t) => t,
  },
  "accesses one behind the other": {
    text: kernel([...times(3000, () => "st.global.u32 [o], x; ld.global.u32 x, [o];"), "add.u32 x, x, t;"]),
    want: (t) => t,
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
