import { expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

/*
 * Chunks that have nothing to do in a barrier region are skipped, and with them all after them if the bound is beyond
 * the end. The bound changes from round to round, and is computed in the region that asks it: what the last round of
 * one block has left of it is nothing for the first round of the next.
 */

const rounds = `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 row[384];
.visible .entry k(.param .u64 out) {
.reg .pred %p; .reg .b32 %t, %b, %n, %left, %bound, %sum, %at, %their, %v; .reg .b64 %out;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %n, %b, 96, %t;
mad.wide.u32 %out, %n, 4, %out; shl.b32 %at, %t, 2; mov.u32 %v, row; add.u32 %at, %at, %v;
st.shared.u32 [%at], %t; mov.u32 %sum, 1; mov.u32 %left, 2; mov.u32 %n, 48;
bar.sync 0;
ROUND:
add.s32 %bound, %n, 1; setp.lt.s32 %p, %t, %bound; @%p bra MET;
sub.u32 %their, %at, 4; ld.shared.u32 %v, [%their]; add.u32 %sum, %sum, %v;
MET:
bar.sync 0;
setp.eq.u32 %p, %left, 0; @%p bra DONE;
st.shared.u32 [%at], %sum; bar.sync 0;
add.s32 %n, %n, 24; sub.u32 %left, %left, 1; bra.uni ROUND;
DONE:
st.global.u32 [%out], %sum;
ret; }`;

/** What the threads of each block come to. */
function expected(): readonly number[] {
  let row = Array.from({ length: 96 }, (_, t) => t);
  let sums: readonly number[] = row.map(() => 1);
  for (const bound of [49, 73, 97]) {
    sums = sums.map((sum, t) => (t < bound ? sum : sum + row[t - 1]!));
    row = [...sums];
  }
  return sums;
}

test("in each block of a launch, chunks below a bound that changes have nothing to do", () => {
  const [out] = expectSameResults({
    text: rounds,
    buffers: [new Uint8Array(4 * 96 * 3)],
    launch: { grid: 3, block: 96 },
  });
  expect([...new Uint32Array(out!.slice().buffer)]).toEqual([...expected(), ...expected(), ...expected()]);
});
