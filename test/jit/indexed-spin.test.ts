import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Threads of the first warp go round a loop through `brx.idx` until threads of the second have written a flag: those
 * that wait have to let others run (section 9.7.12.2 says nothing else of such a branch than of `bra`).
 */
const waiting = (index: string, branch: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry wait(.param .u64 flags, .param .u64 out) {
  .reg .pred %p, %q; .reg .b32 %x, %f, %i, %n; .reg .b64 %a, %o, %d;
  ld.param.u64 %a, [flags]; ld.param.u64 %o, [out];
  mov.u32 %x, %tid.x; mov.u32 %n, 0; mul.wide.u32 %d, %x, 4; add.u64 %o, %o, %d;
  setp.ge.u32 %p, %x, 32; @%p bra SET;
  ts: .branchtargets LOOP, DONE, OTHER;
LOOP: ld.volatile.global.u32 %f, [%a]; setp.ne.u32 %q, %f, 2;
  ${index}
  ${branch} brx.idx %i, ts;
  bra DONE;
OTHER: add.u32 %n, %n, 100; bra DONE;
SET: st.volatile.global.u32 [%a], 1;
DONE: add.u32 %n, %n, %x; st.global.u32 [%o], %n;
  ret;
}`;

const cases: readonly (readonly [what: string, index: string, branch: string, added: (x: number) => number])[] = [
  ["all lanes together", "mov.u32 %i, %f;", "", () => 0],
  [
    "odd lanes, while even ones have gone on",
    "and.b32 %i, %x, 1; setp.eq.u32 %p, %i, 0; selp.b32 %i, 2, %f, %p;",
    "",
    (x) => (x < 32 && x % 2 === 0 ? 100 : 0),
  ],
  ["with a guard that all have", "mov.u32 %i, %f;", "@%q", () => 0],
  ["with a guard that odd lanes have", "mov.u32 %i, %f; and.b32 %f, %x, 1; setp.ne.u32 %q, %f, 0;", "@%q", () => 0],
];

describe.each(usualEngines)("%s", (engine) => {
  test.each(cases)("%s", (_, index, branch, added) => {
    const device = new Device({ engine, hostThreads: 1 });
    const [flags, out] = [device.buffer("u32", 1), device.buffer("u32", 64)];
    const kernel = device.load(waiting(index, branch)).kernel("wait");
    expect(kernel.launch({ grid: 1, block: 64, args: [flags, out], timeoutMs: 20_000 }).reports).toEqual([]);
    expect([...out.read()]).toEqual(Array.from({ length: 64 }, (_, x) => x + added(x)));
  });
});
