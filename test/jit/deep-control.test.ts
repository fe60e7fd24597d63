import { expect, test } from "vitest";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";

/*
 * Control flow of a size at which passes over blocks must not take quadratic time, or V8 optimizes for minutes: the
 * test would not end. What comes out is computed beside it.
 */
const threads = 64;

function results(text: string, kernel: string, rounds: number): number[] {
  const device = new PtxDevice();
  const out = device.buffer("u32", threads);
  const result = device
    .load(text)
    .kernel(kernel)
    .launch({ grid: 1, block: threads, args: [out, rounds] });
  expect([result.ok, result.engine, result.interpreted]).toEqual([true, "jit", null]);
  return [...(out.read() as Uint32Array)];
}

const kernelOf = (name: string, registers: string, body: readonly string[]): string =>
  `.version 8.0
.target sm_75
.address_size 64
.visible .entry ${name}(.param .u64 out, .param .u32 rounds)
{
  .reg .b32 %t, %a, %n, ${registers}; .reg .b64 %o; .reg .pred %p;
  ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds];
  mov.u32 %t, %tid.x;
${body.join("\n")}
  mad.wide.u32 %o, %t, 4, %o; st.global.u32 [%o], %a; ret;
}`;
const range = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

test("a state machine of 1000 cases", () => {
  const n = 1000;
  const rounds = 20;
  const labels = range(n, (i) => `c${i}`).join(", ");
  const text = kernelOf("machine", "%s, %m", [
    `mad.lo.u32 %s, %t, 7, 1; mov.u32 %a, 0; mov.u32 %m, 0;`,
    `loop: ts: .branchtargets ${labels};`,
    `brx.idx %s, ts;`,
    ...range(n, (i) => `c${i}: mad.lo.u32 %a, %a, ${2 * i + 3}, ${i}; mad.lo.u32 %s, %s, ${4 * i + 5}, %a; bra next;`),
    `next: rem.u32 %s, %s, ${n}; add.u32 %m, %m, 1; setp.lt.u32 %p, %m, %n; @%p bra loop;`,
  ]);
  const expected = range(threads, (t) => {
    let [state, a] = [7 * t + 1, 0];
    for (let round = 0; round < rounds; round++) {
      a = (Math.imul(a, 2 * state + 3) + state) >>> 0;
      state = ((Math.imul(state, 4 * state + 5) + a) >>> 0) % n;
    }
    return a;
  });
  expect(results(text, "machine", rounds)).toEqual(expected);
});

test("800 loops within each other", () => {
  const n = 800;
  const text = kernelOf("nested", `%i<${n}>`, [
    `mov.u32 %a, %t;`,
    ...range(n, (i) => `mov.u32 %i${i}, 0;\nl${i}: mad.lo.u32 %a, %a, ${2 * i + 3}, ${i};`),
    ...range(n, (i) => n - 1 - i).map((i) => `add.u32 %i${i}, %i${i}, 1; setp.lt.u32 %p, %i${i}, %n; @%p bra l${i};`),
  ]);
  const expected = range(threads, (t) => {
    let a = t;
    for (let i = 0; i < n; i++) a = (Math.imul(a, 2 * i + 3) + i) >>> 0;
    return a;
  });
  expect(results(text, "nested", 1)).toEqual(expected);
});
