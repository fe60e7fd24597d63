import { expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

// Four lanes add floats to four words at once, unless two of the words are the same.

/** Lane t updates word `index[t]` of `sums` with `value[t]`, and stores what was there if `old` says so. */
const kernel = (op: string, old: boolean, guard: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 sums, .param .u64 index, .param .u64 value, .param .u64 olds) {
  .reg .pred %p; .reg .b32 %t, %i, %old; .reg .f32 %v; .reg .b64 %s, %a, %b, %o;
  mov.u32 %t, %ctaid.x; mov.u32 %i, %ntid.x; mul.lo.u32 %t, %t, %i; mov.u32 %i, %tid.x; add.u32 %t, %t, %i;
  ld.param.u64 %s, [sums]; ld.param.u64 %a, [index]; ld.param.u64 %b, [value]; ld.param.u64 %o, [olds];
  mad.wide.u32 %a, %t, 4, %a; mad.wide.u32 %b, %t, 4, %b; mad.wide.u32 %o, %t, 4, %o;
  ld.global.u32 %i, [%a]; ld.global.f32 %v, [%b];
  mad.wide.u32 %s, %i, 4, %s;
  mov.u32 %old, 0;
  and.b32 %i, %t, 5; setp.ne.u32 %p, %i, 1;
  ${guard} ${op.replace("OLD", "%old")};
  ${old ? "st.global.u32 [%o], %old;" : ""}
  ret;
}`;

const operations = {
  "add.f32": "atom.global.add.f32 OLD, [%s], %v",
  "add of halves": "atom.global.add.noftz.f16x2 OLD, [%s], %t",
  exchange: "atom.global.exch.b32 OLD, [%s], %t",
  "add of integers": "atom.global.add.u32 OLD, [%s], %t",
  red: "red.global.add.f32 [%s], %v",
};

const bits = [0, 0x8000_0000, 1, 0x807f_ffff, 0x0080_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x3f80_0000];

/** Numbers that look random, the same each time. */
function* numbers(seed: number): Generator<number, never> {
  for (let x = seed; ; ) yield (x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0) >>> 8;
}

const threads = 192;

test.each(Object.entries(operations))("%s", (_, op) => {
  for (const words of [1, 3, 40, 1000]) {
    for (const old of op.includes("OLD") ? [false, true] : [false]) {
      for (const guard of ["", "@%p"]) {
        const random = numbers(words + (old ? 7 : 0));
        const some = (n: number, of: () => number): Uint8Array =>
          new Uint8Array(Uint32Array.from({ length: n }, of).buffer);
        const number = (): number => {
          const r = random.next().value;
          return r % 3 === 0 ? bits[r % bits.length]! : new Uint32Array(Float32Array.of(r / 1000 - 5000).buffer)[0]!;
        };
        const index = some(threads, () => random.next().value % words);
        const got = expectSameResults({
          text: kernel(op, old, guard),
          buffers: [some(words, number), index, some(threads, number), some(threads, () => 5)],
          launch: { grid: 3, block: 64 },
        });
        expect(got[0]).not.toEqual(some(words, () => 0));
      }
    }
  }
});
