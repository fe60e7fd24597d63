import { expect, test } from "vitest";
import { blockStepsOf } from "../../../src/jit/compile/analysis/flow/block-steps.ts";
import { Analysed } from "./analysed.ts";

const registerOf = (code: Analysed, name: string): number => {
  const expr = code.register(name);
  if (expr.kind !== "reg") throw new Error(`${name} is no register`);
  return expr.reg;
};

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x];\n";

const stepsOf = ({ analysis, pauses, invariants }: Analysed) => blockStepsOf(analysis, pauses.barriers, invariants);

/** Lines 1 and 3 are for chunks, the loop's end (lines 5 and 6) for the block. */
const loop = new Analysed(`${begin}mov.u32 %s1, %s0;
LOOP: mul.lo.u32 %r1, %r1, %s1; st.global.u32 [%x0], %r1;
bar.sync 0;
add.u32 %r1, %r1, %r0;
bar.sync 0;
add.u32 %s1, %s1, -1; setp.ne.u32 %p0, %s1, 0;
@%p0 bra LOOP;
st.global.u32 [%x0], %r1;
ret;`);

test("what is the same for all threads is executed once, between the regions of chunks", () => {
  const { steps } = stepsOf(loop)!;
  const startingAt = (line: number) => steps.find(({ start }) => start === loop.blockOf(line))!;
  const regions = steps.filter(({ region }) => region !== null).map(({ start }) => start);
  expect(regions.toSorted((a, b) => a - b)).toEqual(
    [0, 2, 4, 8].map((line) => loop.blockOf(line)).toSorted((a, b) => a - b),
  );
  expect(startingAt(6).region).toBeNull();
  expect(startingAt(4).next).toEqual([loop.blockOf(6)]);
  expect(startingAt(6).next).toContain(loop.blockOf(2));
});

test("chunks share registers that have one value, not those that change with the thread", () => {
  const { shared } = stepsOf(loop)!;
  expect(shared.has(registerOf(loop, "%s1"))).toBe(true);
  expect(shared.has(registerOf(loop, "%r1"))).toBe(false);
});

test("a region may have several ends, if all threads go to the same one", () => {
  const code = new Analysed(`${begin}mul.lo.u32 %r1, %r0, %r0; setp.eq.u32 %p0, %s0, 5;
@%p0 bra OTHER;
bar.sync 0;
st.global.u32 [%x0], %r1;
ret;
OTHER: bar.sync 0;
st.global.u32 [%x0], %r0;
ret;`);
  expect(stepsOf(code)!.steps[0]!.next).toEqual([code.blockOf(4), code.blockOf(7)]);
});

test("there are no steps where threads may come to different barriers", () => {
  const code = new Analysed(`${begin}setp.lt.u32 %p0, %r0, 64;
@%p0 bra OTHER;
bar.sync 0;
ret;
OTHER: bar.sync 0;
bar.sync 0;
ret;`);
  expect(stepsOf(code)).toBeNull();
});

test("threads that meet again before the barrier may have gone different ways", () => {
  const code = new Analysed(`${begin}setp.lt.u32 %p0, %r0, 5; @%p0 bra NEXT;
add.u32 %r1, %r0, 1;
NEXT: setp.eq.u32 %p1, %s0, 5; @%p1 bra END;
bar.sync 0;
END: ret;`);
  expect(stepsOf(code)!.steps[0]!.next).toEqual([code.blockOf(5), null]);
});

test("a comparison with what all threads share is computed where it is read", () => {
  const code = new Analysed(`${begin}mov.u32 %s1, %s0;
LOOP: setp.lt.u32 %p1, %r0, %s1;
@%p1 st.global.u32 [%x0], %r0;
bar.sync 0;
@%p1 st.global.u32 [%x0], %r1;
bar.sync 0;
add.u32 %s1, %s1, -1; setp.ne.u32 %p0, %s1, 0;
@%p0 bra LOOP;
ret;`);
  expect([...stepsOf(code)!.predicates.values.keys()]).toEqual([registerOf(code, "%p1")]);
});

test("but not where that changes while the predicate is needed", () => {
  const code = new Analysed(`${begin}mov.u32 %s1, %s0;
LOOP: setp.lt.u32 %p1, %r0, %s1;
bar.sync 0;
add.u32 %s1, %s1, -1;
bar.sync 0;
@%p1 st.global.u32 [%x0], %r0;
setp.ne.u32 %p0, %s1, 0;
@%p0 bra LOOP;
ret;`);
  expect(stepsOf(code)!.predicates.values.size).toBe(0);
});

test("a first block that only decides for all threads is no region: chunks begin after it", () => {
  const code = new Analysed(`mov.u32 %r1, %ctaid.x; setp.lt.u32 %p0, %r1, 5;
@%p0 bra OTHER;
mov.u32 %r0, %tid.x; ld.param.u64 %x0, [x];
bar.sync 0;
st.global.u32 [%x0], %r0;
ret;
OTHER: mov.u32 %r2, %tid.x; ld.param.u64 %x1, [x];
bar.sync 0;
st.global.u32 [%x1], %r2;
ret;`);
  const { steps, beginnings } = stepsOf(code)!;
  expect(steps[0]).toMatchObject({ start: 0, region: null });
  expect([...beginnings].toSorted((a, b) => a - b)).toEqual([code.blockOf(2), code.blockOf(6)]);
  expect([...stepsOf(loop)!.beginnings]).toEqual([0]);
});
