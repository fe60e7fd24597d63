import { describe, expect, test } from "vitest";
import { type Case, expectSame, inWarps } from "./harness.ts";

const block = [100, 1, 1] as const;

/** Functions that wait for other threads. */
const functions = `
.shared .b32 box[128];
.shared .b32 lock;
.func (.reg .b32 %got) swap(.reg .b32 %mine, .reg .b32 %at, .reg .b32 %from)
{
.reg .b32 %b;
mov.u32 %b, box; mad.lo.u32 %at, %at, 4, %b; st.shared.u32 [%at], %mine;
bar.sync 0;
mad.lo.u32 %from, %from, 4, %b; ld.shared.u32 %got, [%from];
bar.sync 0;
ret;
}
.func (.reg .b32 %sum) twice(.reg .b32 %mine, .reg .b32 %at, .reg .b32 %from)
{
.reg .b32 %x, %y; .reg .pred %p;
call (%x), swap, (%mine, %at, %from);
add.u32 %y, %x, %mine;
setp.gt.u32 %p, %mine, 1000; @%p bra skip; add.u32 %y, %y, 1;
skip: call (%sum), swap, (%y, %at, %from);
add.u32 %sum, %sum, %x;
ret;
}
.func (.reg .b32 %n) vote(.reg .b32 %x)
{
.reg .pred %p;
setp.lt.u32 %p, %x, 40; barrier.red.popc.u32 %n, 3, %p;
ret;
}
.func (.reg .b32 %v) await(.reg .b32 %want)
{
.reg .b32 %a; .reg .pred %p;
mov.u32 %a, lock;
again: ld.volatile.shared.u32 %v, [%a]; setp.ne.u32 %p, %v, %want; @%p bra again;
ret;
}`;

const flag = `.global .b32 flag;
.func (.reg .b32 %v) far(.reg .b32 %want)
{
.reg .b64 %a; .reg .pred %p;
mov.u64 %a, flag;
again: ld.volatile.global.u32 %v, [%a]; setp.ne.u32 %p, %v, %want; @%p bra again;
ret;
}`;

const cases: readonly Case[] = [
  {
    name: "barriers in a function",
    body: `add.u32 %r1, %t, 7; rem.u32 %r1, %r1, 100; mul.lo.u32 %r2, %t, 3; call (%r3), swap, (%r2, %t, %r1);
st.global.v2.u32 [%out], {%r3, %r1};`,
  },
  {
    name: "functions that call others which wait, in a loop",
    body: `mov.u32 %r5, 0; mul.lo.u32 %r2, %t, 3;
loop: add.u32 %r1, %t, 33; add.u32 %r1, %r1, %r5; rem.u32 %r1, %r1, 100; call (%r2), twice, (%r2, %t, %r1);
bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra loop; st.global.v2.u32 [%out], {%r2, %r5};`,
  },
  {
    name: "threads that have ended before",
    body: `setp.ge.u32 %p0, %t, 70; @%p0 ret; xor.b32 %r1, %t, 1; call (%r3), swap, (%t, %t, %r1); st.global.u32 [%out], %r3;`,
  },
  {
    name: "lanes that part before and after",
    body: `and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, 5; @%p0 bra even; mul.lo.u32 %r2, %t, 9;
even: xor.b32 %r1, %t, 1; call (%r3), swap, (%r2, %t, %r1); @!%p0 bra odd; add.u32 %r3, %r3, 100; odd: st.global.u32 [%out], %r3;`,
  },
  {
    name: "a reduction before a call, and one in it",
    body: `setp.lt.u32 %p0, %t, 70; bar.red.popc.u32 %r5, 2, %p0; call (%r3), vote, (%t); call (%r4), vote, (%r3);
st.global.v4.u32 [%out], {%r3, %r4, %r5, %t};`,
  },
  { name: "a reduction in a function", body: `call (%r3), vote, (%t); st.global.u32 [%out], %r3;` },
  {
    name: "a function that spins until another warp has written",
    body: `mov.u32 %r9, lock; shr.u32 %r1, %t, 5; setp.eq.u32 %p0, %r1, 0; @%p0 bra wait;
setp.ne.u32 %p1, %t, 99; @%p1 bra done; mov.u32 %r8, 6; st.volatile.shared.u32 [%r9], %r8; bra done;
wait: call (%r3), await, (6); st.global.u32 [%out], %r3;
done:`,
  },
  {
    name: "a function that spins until a later block has written",
    body: `mov.u32 %r1, %ctaid.x; mov.u64 %d1, flag; setp.eq.u32 %p0, %r1, 0; @%p0 bra wait;
setp.ne.u32 %p1, %r1, 2; @%p1 bra done; st.volatile.global.u32 [%d1], 9; bra done;
wait: call (%r3), far, (9); st.global.u32 [%out], %r3;
done:`,
  },
];

describe("functions that pause", () => {
  test.each(cases)("$name", (c) => {
    const { reports, out } = expectSame({ before: functions + flag, block, grid: [3, 1, 1], ...c }, inWarps);
    expect(reports).toEqual([]);
    expect(out.some((word) => word !== 0)).toBe(true);
  });
});
