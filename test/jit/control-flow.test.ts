import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

/** Counts down `%r0` in each block, so that every way ends. */
const step = (constant: number): string =>
  `sub.u32 %r0, %r0, 1; setp.le.s32 %p0, %r0, 0; @%p0 bra $END; mad.lo.u32 %r1, %r1, 1103515245, ${constant};`;

const begin = "mul.lo.u32 %r1, %t, 0x9e3779b1; shr.u32 %r2, %r1, 15; xor.b32 %r1, %r1, %r2;";
const end = "$END: st.global.b32 [%out], %r1; ret;";

test("lanes that wait at none of several places are looked for at all that are left", () => {
  const down = "sub.u32 %r4, %r4, 1; setp.le.s32 %p7, %r4, 0;";
  const { reports, out } = expectSame({
    name: "",
    body: `mul.lo.u32 %r5, %t, 0x9e3779b1; mov.u32 %r4, 5; and.b32 %r6, %r7, 3; add.u32 %r4, %r4, %r6;
      and.b32 %r9, %r20, 7; setp.ne.u32 %p8, %r9, 3; @%p8 bra $5;
      $2: ${down} @%p7 bra $9; mad.lo.u32 %r5, %r5, 1103515245, 1557; shr.u32 %r6, %r5, 16; bra $2;
      $3: ${down} @%p7 bra $9;
      $4: ${down} @%p7 bra $9; mad.lo.u32 %r5, %r5, 1103515245, 30860; mad.lo.s32 %r20, %r20, %r21, %r20;
        @%p7 bra $6; @!%p7 bra $4;
      $5: ${down} @%p7 bra $9; mad.lo.u32 %r5, %r5, 1103515245, 25699; shr.u32 %r6, %r5, 30; bra $7;
      $6: ${down} @%p7 bra $9; shr.u32 %r6, %r5, 17; bra $5;
      $7: sub.u32 %r4, %r4, 1;
      $8: ${down} setp.eq.u32 %p7, %r6, 0; @%p7 bra $2; @!%p7 bra $3;
      $9: st.global.b32 [%out], 7; ret;`,
    block: [32, 1, 1],
    words: 1,
  });
  expect(reports).toEqual([]);
  expect(out.slice(0, 32)).toEqual(new Array(32).fill(7));
});

/** A generator of numbers below 2^32. */
function* random(seed: number): Generator<number, never> {
  for (let s = seed; ; ) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    yield s ^ (s >>> 16);
  }
}

/** Blocks that branch to any others, by bits of what each lane has computed. */
function graph(seed: number): string {
  const numbers = random(seed);
  const below = (n: number): number => (numbers.next().value >>> 3) % n;
  const count = 4 + below(7);
  const target = (): string => `$B${below(count)}`;
  const blocks = Array.from({ length: count }, (_, i) => {
    const bit = `shr.u32 %r2, %r1, ${10 + below(15)}; and.b32 %r2, %r2, ${2 ** below(3)};`;
    const ends = [
      `bra ${target()};`,
      `setp.eq.u32 %p0, %r2, 0; @%p0 bra ${target()};`,
      `setp.eq.u32 %p0, %r2, 0; @%p0 bra ${target()}; bra ${target()};`,
      `setp.eq.u32 %p0, %r2, 0; @%p0 bra ${target()}; @!%p0 bra ${target()};`,
      "",
    ];
    return `$B${i}: ${step(1000 * i + below(1000))} ${bit} ${ends[below(ends.length)]}`;
  });
  return `${begin} and.b32 %r2, %t, 3; add.u32 %r0, %r2, ${3 + below(20)}; ${blocks.join("\n")} bra ${target()};\n${end}`;
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))("a graph in which lanes go anywhere: %i", (seed) => {
  const { reports, out } = expectSame({ name: "", body: graph(seed), block: [32, 1, 1], words: 1 });
  expect(reports).toEqual([]);
  expect(new Set(out).size).toBeGreaterThan(1);
});
