import { expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

// Branches ask for the opposites of some comparisons. The values are those at which comparisons change.

const borders = [
  0n,
  1n,
  2n,
  -1n,
  -2n,
  0x7fff_ffffn,
  0x8000_0000n,
  -0x8000_0000n,
  0xffff_ffffn,
  1n << 63n,
  ~(1n << 63n),
];
const pairs = borders.flatMap((a) => borders.map((b) => [a, b] as const));
const ofAll = (pick: (pair: readonly [bigint, bigint]) => bigint): Uint8Array =>
  new Uint8Array(BigInt64Array.from(pairs, (pair) => BigInt.asIntN(64, pick(pair))).buffer);

const kernelOf = (type: string, bits: number, body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
.reg .pred %p<9>; .reg .b32 %i, %j, %k, %t; .reg .b64 %x, %y, %z, %d; .reg .b${bits} %a, %b, %c;
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %z, [z];
mov.u32 %j, %ntid.x; mov.u32 %k, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %k, %j, %t;
setp.ge.u32 %p1, %i, ${pairs.length}; @%p1 bra END;
mul.wide.u32 %d, %i, 8; add.s64 %x, %x, %d; add.s64 %y, %y, %d; add.s64 %z, %z, %d;
ld.global.${type} %a, [%x]; ld.global.${type} %b, [%y]; mov.b${bits} %c, 7;
${body}
st.global.b${bits} [%z], %c;
END: ret;
}`;

test.each(
  ["s32", "u32", "s64", "u64"].flatMap((type) => ["lt", "le", "gt", "ge"].map((order) => [order, type] as const)),
)("setp.%s.%s", (order, type) => {
  const bits = Number(type.slice(1));
  const isSigned = type.startsWith("s");
  const asked = `setp.${order}.${type} %p2, %a, %b;`;
  const number = (value: bigint): bigint => (isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
  const holds = pairs.map((pair) => {
    const [a, b] = pair.map(number) as [bigint, bigint];
    return { lt: a < b, le: a <= b, gt: a > b, ge: a >= b }[order];
  });
  for (const [body, yes, no] of [
    [`${asked} @%p2 bra B; mov.b${bits} %c, 9; B:`, 7, 9],
    [`${asked} @!%p2 bra B; mov.b${bits} %c, 9; B:`, 9, 7],
    [`${asked} @%p2 bra B; mov.b${bits} %c, 9; bra C; B: mov.b${bits} %c, 8; C:`, 8, 9],
    [`${asked} @%p2 ret;`, 0, 7],
    [`${asked} @!%p2 exit;`, 7, 0],
    [`${asked} @%p2 bra B; mov.b${bits} %c, 9; B: selp.b${bits} %c, %a, %c, %p2;`, null, 9],
    [`L: add.u${bits} %c, %c, 1; ${asked} mov.b${bits} %a, %b; @%p2 bra L;`, null, 8],
  ] as const) {
    const buffers = [ofAll(([a]) => a), ofAll(([, b]) => b), new Uint8Array(8 * pairs.length)];
    // A loop must end: neither order holds of equals.
    if (body.startsWith("L:") && (order === "le" || order === "ge")) continue;
    const [, , out] = expectSameResults({ text: kernelOf(type, bits, body), buffers, launch: { grid: 5, block: 32 } });
    const words = new BigInt64Array(out!.buffer);
    pairs.forEach((_, i) => {
      const expected = holds[i] === true ? yes : no;
      if (expected !== null) expect([i, words[i]]).toEqual([i, BigInt(expected)]);
    });
  }
});
