import { expect, test } from "vitest";
import { expectSameResults, type PtxCase } from "./both-engines.ts";

// Numbers that are only ever 0 or 1 become predicates. What lanes have noted in one lives across branches, loops and
// barriers all the same.

const words = (count: number, at: (i: number) => number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => at(i)).buffer);

const size = 512;

function caseOf(body: string, n: number, block: PtxCase["launch"]["block"]): PtxCase {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 4 .b8 blob[4]) {
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %i, %j, %k, %n, %t, %u, %v; .reg .b64 %x, %y, %a, %b, %d;
.shared .align 4 .b8 s[2048];
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [blob];
mov.u32 %t, %tid.x; mov.u32 %j, %tid.y; mov.u32 %k, %ntid.x; mad.lo.u32 %t, %j, %k, %t;
mul.wide.u32 %d, %t, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d;
mov.u32 %u, s; mad.lo.u32 %u, %t, 4, %u; ld.global.u32 %v, [%a]; st.shared.u32 [%u], %v;
${body}
ret;
}`;
  const [x, y] = [words(size, (i) => Math.imul(i + 1, 0x9e37_79b1) >>> 0), words(size, () => 0)];
  return { text, buffers: [x, y], blob: words(1, () => n), launch: { grid: 1, block } };
}

const bodies = {
  "across barriers of a loop": `mov.u32 %i, 0;
    L: mov.u16 %h1, 0; setp.le.u32 %p1, %t, %i; @%p1 bra A; and.b32 %j, %v, 3; setp.eq.s32 %p2, %j, %i; @%p2 bra A;
    mov.u16 %h1, 1; add.u32 %v, %v, %t;
    A: bar.sync 0; setp.eq.s16 %p3, %h1, 0; @%p3 bra B; xor.b32 %v, %v, %i; st.shared.u32 [%u], %v;
    B: bar.sync 0; add.u32 %i, %i, 1; setp.lt.u32 %p4, %i, %n; @%p4 bra L;
    and.b16 %h2, %h1, 255; setp.eq.s16 %p5, %h2, 0; @%p5 bra C; st.global.u32 [%b], %v; C:`,
  "noted once, in any round": `mov.u32 %i, 0; mov.u16 %h1, 0;
    L: shr.u32 %j, %v, %i; and.b32 %j, %j, 7; setp.ne.u32 %p1, %j, 5; @%p1 bra A; mov.u16 %h1, 1;
    A: add.u32 %i, %i, 1; setp.lt.u32 %p2, %i, %n; @%p2 bra L;
    setp.ne.s16 %p3, %h1, 0; selp.u32 %v, 7, 9, %p3; st.global.u32 [%b], %v;`,
  "the same in all lanes": `mov.u16 %h1, 1; setp.gt.u32 %p1, %n, 3; @%p1 bra A; mov.u16 %h1, 0; A: bar.sync 0;
    setp.eq.s16 %p2, %h1, 1; @%p2 bra B; add.u32 %v, %v, 5; B: st.global.u32 [%b], %v;`,
  "of several others": `and.b32 %j, %v, 1; setp.eq.u32 %p1, %j, 0; selp.u16 %h1, 1, 0, %p1; and.b32 %j, %v, 6;
    setp.eq.u32 %p2, %j, 2; @%p2 mov.u16 %h1, 0; mov.u16 %h2, 0; @%p2 mov.u16 %h2, 1; setp.gt.u32 %p3, %t, %n;
    selp.b16 %h3, %h1, %h2, %p3; or.b16 %h4, %h1, %h2; bar.sync 0; and.b16 %h5, %h3, %h4;
    setp.ne.s16 %p4, %h5, 0; @%p4 st.global.u32 [%b], %v;`,
  "which nothing has written": `setp.gt.u32 %p1, %t, %n; @%p1 mov.u16 %h1, 1; setp.eq.s16 %p2, %h1, 0; selp.u32 %v, 3, 4, %p2;
    st.global.u32 [%b], %v;`,
};

test.each(Object.entries(bodies))("%s", (name, body) => {
  for (const block of [256, 32, 7, [16, 16], [8, 5]] as const) {
    for (const n of [1, 2, 5, 12]) {
      const [, written] = expectSameResults(caseOf(body, n, block));
      if (name === "noted once, in any round") expect(written!.some((byte) => byte !== 0)).toBe(true);
    }
  }
});
