import { expect, test } from "vitest";
import { Device } from "../../../src/runtime/index.ts";
import { cases } from "./cases.ts";
import { inputWords, kernelText, moduleText, opcodeOf } from "./kernel.ts";
import { type Case, prepare } from "./model.ts";

/** What is wrong with the results of cases, one line each at most. */
function problems(chosen: readonly Case[], engine: "interpreter" | "jit", sanitize: "all" | []): string[] {
  const prepared = chosen.map(prepare);
  const device = new Device();
  const module = device.load(moduleText(chosen.map((c, i) => kernelText(`k${i}`, c, prepared[i]!))));
  return chosen.flatMap((c, i) => {
    const { image, registersOfD } = prepared[i]!;
    const expected = registersOfD.flat();
    const out = device.buffer(new Uint32Array(expected.length));
    const args = [device.buffer(image), device.buffer(inputWords(c, prepared[i]!)), out];
    const { reports } = module.kernel(`k${i}`).launch({ grid: 1, block: 128, args, engine, sanitize });
    const about = `${opcodeOf(c)}, A ${JSON.stringify(c.left)}, B ${JSON.stringify(c.right)}`;
    if (reports.length > 0) return [`${about}: ${reports[0]!.code}: ${reports[0]!.message}`];
    const found = out.read();
    const wrong = expected.findIndex((value, at) => Number(found[at]) !== value);
    if (wrong < 0) return [];
    const count = registersOfD[0]!.length;
    const place = `register ${wrong % count} of thread ${Math.floor(wrong / count)}`;
    return [`${about}: ${place} is ${Number(found[wrong]).toString(16)}, expected ${expected[wrong]!.toString(16)}`];
  });
}

const formOf = (c: Case): string =>
  `${opcodeOf(c).replace(/n\d+k/, "nNk").replace(".satfinite", "")}, A in ${c.left === null ? "registers" : "shared memory"}`;

const keyOf = (c: Case): string => `${c.selector === null ? "dense" : "sparse"} ${c.a} ${c.left === null}`;
const byForm = [...new Set(cases.map(keyOf))].map((key) => cases.filter((c) => keyOf(c) === key));

test.each(byForm.map((list) => ({ form: formOf(list[0]!), list })))("$form", ({ list }) => {
  expect(problems(list, "interpreter", [])).toEqual([]);
});

test("the compiler gives the same", () => {
  const chosen = byForm.flatMap((list) => list.filter((c) => c.n === 8 || c.n === 48));
  expect(problems(chosen, "jit", [])).toEqual([]);
});

test.each(["interpreter", "jit"] as const)("sums are cut as on the hardware, or exact on request: %s", (engine) => {
  // numeric/tensor.ts, from the literature: 1 and 2^-26 eight times are 1 where terms keep 25 bits of fraction.
  const text = moduleText([
    `.visible .entry k(.param .u64 out) {
    .reg .b64 %o, %b; .reg .b32 %t, %s, %v, %a<4>, %d<4>; .reg .pred p;
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;
    mad.lo.u32 %s, %t, 4, 0; mov.b32 %v, 0x04000400; // 2^-14
    mov.u32 %a0, buf; add.u32 %s, %s, %a0; st.shared.b32 [%s], %v;
    fence.proxy.async.shared::cta; bar.sync 0;
    setp.lt.u32 p, %t, 4; and.b32 %t, %t, 3;
    mov.u32 %s, buf; and.b32 %s, %s, 0x3ffff; shr.u32 %s, %s, 4; cvt.u64.u32 %b, %s;
    or.b64 %b, %b, 0x0000001000080000;
    mov.b32 %a0, 0x0c000c00; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0; // 2^-12, eight of them
    mov.b32 %d0, 0x3f800000; mov.b32 %d1, %d0; mov.b32 %d2, %d0; mov.b32 %d3, %d0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    st.global.b32 [%o], %d0; ret;
}`,
  ]);
  const device = new Device();
  const sum = (matrix: "hardware" | "exact"): number => {
    const out = device.buffer(new Float32Array(128));
    device
      .load(text)
      .kernel("k")
      .launch({ grid: 1, block: 128, args: [out], engine, matrix });
    return Number(out.read()[0]);
  };
  expect([sum("hardware"), sum("exact")]).toEqual([1, 1 + 2 ** -23]);
});

test("no report of a sanitizer", () => {
  const chosen = byForm.flatMap((list) => list.filter((c) => c.n === 24));
  expect(problems(chosen, "interpreter", "all")).toEqual([]);
});
