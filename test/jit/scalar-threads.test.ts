import { describe, expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";
import { expectSame } from "./harness.ts";

// Kernels whose threads run one by one, as scalar code (`analysis/scalar-threads.ts`).

const entry = (body: string): string => `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b64 %in, %out, %o, %a, %b, %c;
.reg .b32 %i, %n, %t;
.reg .pred %p;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %t, %i, %n, %t;
mul.wide.u32 %o, %t, 16; add.u64 %in, %in, %o; mul.wide.u32 %o, %t, 8; add.u64 %out, %out, %o;
ld.global.v2.u64 {%a, %b}, [%in];
${body}
st.global.u64 [%out], %a;
ret;
}`;

const pairs = (count: number): BigUint64Array =>
  BigUint64Array.from({ length: 2 * count }, (_, i) => (BigInt(i + 1) * 0x9e3779b97f4a7c15n) & 0xffff_ffffn);

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

/** Words that threads multiply as often as the low bits of the second one say. */
function multiplied(a: bigint, b: bigint): bigint {
  for (let i = 0n; i <= (b & 31n); i++) a = BigInt.asUintN(64, (a ^ (a >> 7n)) * b + i);
  return a;
}

describe("loops that threads leave at different times", () => {
  test.each([
    [
      "Euclid's algorithm",
      "LOOP: rem.u64 %c, %a, %b; mov.u64 %a, %b; mov.u64 %b, %c; setp.ne.u64 %p, %b, 0; @%p bra LOOP;",
      gcd,
    ],
    [
      "products of 64 bits",
      `mov.u32 %i, 0; cvt.u32.u64 %n, %b; and.b32 %n, %n, 31;
LOOP: shr.u64 %c, %a, 7; xor.b64 %a, %a, %c; cvt.u64.u32 %c, %i; mad.lo.u64 %a, %a, %b, %c;
add.u32 %i, %i, 1; setp.le.u32 %p, %i, %n; @%p bra LOOP;`,
      multiplied,
    ],
  ] as const)("%s", (_, body, model) => {
    // Rows that end within what would be a chunk, and one that would be many.
    for (const [grid, block] of [
      [3, 37],
      [2, 256],
    ] as const) {
      const given = pairs(grid * block);
      const buffers = [new Uint8Array(given.buffer), new Uint8Array(8 * grid * block)];
      const [, out] = expectSameResults({ text: entry(body), buffers, launch: { grid, block } });
      const wanted = Array.from({ length: grid * block }, (_, i) => model(given[2 * i]!, given[2 * i + 1]!));
      expect([...new BigUint64Array(out!.slice().buffer)]).toEqual(wanted);
    }
  });
});

test("a fault names the thread that has made it", () => {
  const body = `mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 7; and.b32 %r1, %r1, 15; cvt.u64.u32 %d0, %r1; mov.u64 %d1, 3;
LOOP: mul.lo.u64 %d1, %d1, %d1; mul.lo.u64 %d1, %d1, %d0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p0, %r1, 0; @%p0 bra LOOP;
setp.ne.u32 %p1, %r0, 21; @%p1 bra GOOD; add.u64 %out, %out, 100000;
GOOD: st.global.u64 [%out], %d1; ret;`;
  expect(expectSame({ name: "", body, block: [50, 1, 1] }).reports).toHaveLength(1);
});

test("threads have local memory of their own", () => {
  const body = `.local .b8 own[16]; mov.u32 %r0, %tid.x; mov.u64 %d0, own; mov.u32 %r1, 0;
FILL: cvt.u64.u32 %d1, %r1; add.u64 %d1, %d0, %d1; add.u32 %r2, %r1, %r0; st.local.u8 [%d1], %r2; add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, 16; @%p0 bra FILL;
and.b32 %r1, %r0, 12; cvt.u64.u32 %d1, %r1; add.u64 %d1, %d0, %d1; ld.local.u32 %r2, [%d1]; st.global.u32 [%out], %r2;
ret;`;
  const { out } = expectSame({ name: "", body, block: [40, 1, 1], words: 1 });
  const byte = (t: number, i: number): number => ((t & 12) + i + t) & 255;
  const word = (t: number): number => byte(t, 0) | (byte(t, 1) << 8) | (byte(t, 2) << 16) | (byte(t, 3) << 24);
  expect(out).toEqual(Array.from({ length: 40 }, (_, t) => word(t)));
});
