import { expect, test } from "vitest";
import { idleWaysOf } from "../../../src/jit/compile/analysis/flow/idle-ways.ts";
import { blockStepsOf } from "../../../src/jit/compile/analysis/flow/block-steps.ts";
import { Analysed } from "./analysed.ts";

/** The idle ways of the region after the first barrier; `%s1` is shared by all threads, `%r0` is the thread's number. */
function waysIn(region: string) {
  const code = new Analysed(`mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x]; mov.u32 %r1, 7;
mov.u32 %s1, %s0; mul.lo.u32 %r2, %r0, %r0;
LOOP: bar.sync 0;
${region}
END: bar.sync 0;
add.u32 %r1, %r1, %r2; st.global.u32 [%x0], %r1; st.global.u32 [%x0], %s1;
setp.ne.u32 %p3, %s1, 0; @%p3 bra LOOP;
ret;`);
  const { analysis, pauses, invariants } = code;
  const { shared } = blockStepsOf(analysis, pauses.barriers, invariants)!;
  const beginning = {
    barriers: pauses.barriers,
    invariants,
    rematerialized: invariants.rematerialized,
    isShared: (r: number) => shared.has(r),
  };
  return idleWaysOf(analysis, code.blockOf(3), beginning);
}

const work = "ld.global.u32 %r3, [%x0]; add.u32 %r1, %r1, %r3;";

test.each([
  ["a branch to the barrier", `setp.ge.u32 %p0, %r0, %s1; @%p0 bra END; ${work}`, [true]],
  ["a branch to what is done", `setp.ge.u32 %p0, %r0, %s1; @%p0 bra WORK; bra.uni END; WORK: ${work}`, [false]],
  [
    "a value that is not needed after the barrier",
    `mov.u32 %r3, 0; setp.ge.u32 %p0, %r0, %s1; @%p0 bra END; ${work}`,
    [true],
  ],
  ["a value that is", `mov.u32 %r1, 0; setp.ge.u32 %p0, %r0, %s1; @%p0 bra END; ${work}`, []],
  ["a value on the way", `setp.ge.u32 %p0, %r0, %s1; @%p0 bra ELSE; ${work} bra.uni END; ELSE: mov.u32 %r1, 1;`, []],
  [
    "the same predicate again",
    `setp.ge.u32 %p0, %r0, %s1; @%p0 bra NEXT; ${work} NEXT: @!%p0 bra MORE; bra.uni END; MORE: ${work}`,
    [true],
  ],
  [
    "another predicate",
    `setp.ge.u32 %p0, %r0, %s1; setp.eq.u32 %p1, %s1, 3; @%p0 bra NEXT; ${work} NEXT: @%p1 bra END; ${work}`,
    [],
  ],
  ["a predicate of what each thread has", `setp.ge.u32 %p0, %r1, %s1; @%p0 bra END; ${work}`, []],
  [
    "fences, as a chunk without accesses finds nothing to order",
    `membar.gl; setp.ge.u32 %p0, %r0, %s1; @%p0 bra NEXT; ${work} NEXT: fence.sc.cta;`,
    [true],
  ],
  ["a store before the branch", `st.global.u32 [%x0], %r0; setp.ge.u32 %p0, %r0, %s1; @%p0 bra END; ${work}`, []],
] as const)("%s", (_, region, holds) => {
  expect(waysIn(region).map((way) => way.holds)).toEqual(holds);
});

test("what all threads share is computed by chunks that are skipped", () => {
  const [way] = waysIn(`add.u32 %s1, %s1, -1; setp.ge.u32 %p0, %r0, %s1; @%p0 bra END; ${work}`);
  expect(way!.scalars).toHaveLength(1);
});

test("a bound that changes after the comparison is no longer what was compared", () => {
  expect(waysIn(`setp.ge.u32 %p0, %r0, %s1; add.u32 %s1, %s1, -1; @%p0 bra END; ${work}`)).toEqual([]);
});
