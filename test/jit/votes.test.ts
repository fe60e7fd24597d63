import { describe, expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

// Barriers of all threads that reduce predicates, and words that all lanes of a chunk update.

const module = (body: string): string => `.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 words) {
  .shared .align 4 .b32 box[512];
  .reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %out, %words, %rd<4>; .reg .b32 %t, %b, %n, %i;
  ld.param.u64 %out, [out]; ld.param.u64 %words, [words];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %b, %n, %t;
  mul.wide.u32 %rd0, %i, 16; add.u64 %out, %out, %rd0; mul.wide.u32 %rd1, %b, 64; add.u64 %words, %words, %rd1;
  ${body}
  ret;
}`;

const grid = 5;

function expectSame(body: string, threads: number, hostThreads = 1): Uint32Array {
  const words = new Uint32Array(16 * grid).map((_, i) => Math.imul(i + 3, 0x9e3779b1));
  const buffers = [new Uint8Array(16 * threads * grid), new Uint8Array(words.buffer)];
  const [out] = expectSameResults({ text: module(body), buffers, launch: { grid, block: threads, hostThreads } });
  return new Uint32Array(out!.buffer, out!.byteOffset, out!.byteLength / 4);
}

const store = "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};";

const votes: Readonly<Record<string, string>> = {
  "one after the other, used after further barriers": `and.b32 %r9, %t, 3; setp.eq.u32 %p0, %r9, 1; setp.lt.u32 %p1, %t, 500;
    bar.red.popc.u32 %r1, 0, %p0; bar.red.and.pred %p2, 0, %p1; bar.sync 0; bar.red.or.pred %p3, 0, !%p1;
    bar.sync 0; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3; mov.u32 %r4, %t; ${store}`,
  "a loop until nobody has anything to change": `mul.lo.u32 %r1, %t, 7; rem.u32 %r1, %r1, 23; mov.u32 %r2, 0; mov.u32 %r4, 0;
    again: setp.gt.u32 %p0, %r1, %r2; selp.u32 %r9, 1, 0, %p0; add.u32 %r4, %r4, %r9; add.u32 %r2, %r2, 2;
    bar.red.or.pred %p1, 0, %p0; @%p1 bra again; mov.u32 %r3, %r2; ${store}`,
  "the sum of what loops have counted decides": `mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
    again: add.u32 %r9, %t, %r2; and.b32 %r9, %r9, 7; setp.eq.u32 %p0, %r9, 0; bar.red.popc.u32 %r4, 0, %p0;
    add.u32 %r1, %r1, %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r1, 100; setp.lt.u32 %p2, %r2, 40; and.pred %p1, %p1, %p2;
    @%p1 bra again; ${store}`,
  "warps vote at different places": `shr.u32 %r9, %t, 5; and.b32 %r9, %r9, 1; setp.eq.u32 %p0, %r9, 0; setp.lt.u32 %p1, %t, 41;
    mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
    @%p0 bra other; bar.red.popc.u32 %r1, 0, %p1; bar.red.popc.u32 %r2, 0, !%p1; bra done;
    other: bar.red.popc.u32 %r3, 0, %p1; bar.red.popc.u32 %r4, 0, %p1; done: ${store}`,
  "lanes of a warp vote at different places": `and.b32 %r9, %t, 1; setp.eq.u32 %p0, %r9, 0; setp.lt.u32 %p1, %t, 41;
    mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
    @%p0 bra other; bar.red.popc.u32 %r1, 0, %p1; bra done; other: bar.red.popc.u32 %r3, 0, %p1;
    done: bar.red.popc.u32 %r4, 0, 1; ${store}`,
  "the register holds something else in other rounds": `mov.u32 %r1, %t; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
    again: add.u32 %r3, %r3, %r1; setp.lt.u32 %p0, %t, %r2; and.b32 %r9, %r2, 1; setp.eq.u32 %p1, %r9, 0;
    @%p1 bra own; bar.red.popc.u32 %r1, 0, %p0; bra next; own: bar.sync 0; add.u32 %r1, %r1, %t;
    next: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra again; ${store}`,
  "one after the other, in registers that some threads write": `and.b32 %r9, %t, 5; setp.eq.u32 %p0, %r9, 4; setp.lt.u32 %p1, %t, 41;
    bar.red.popc.u32 %r1, 0, %p1; @%p0 mov.u32 %r1, %t; bar.red.popc.u32 %r2, 0, !%p1; @%p0 mov.u32 %r2, 77;
    bar.red.popc.u32 %r3, 0, %p0; @%p0 mov.u32 %r3, %b; mov.u32 %r4, %t; ${store}`,
  "chunks that have nothing else to do": `shl.b32 %r9, %t, 2; mov.u32 %r8, box; add.u32 %r9, %r9, %r8; st.shared.u32 [%r9], %t;
    mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 64; mov.u32 %r4, 0; bar.sync 0;
    again: setp.ge.u32 %p0, %t, %r3; @%p0 bra skip; ld.shared.u32 %r7, [%r9]; add.u32 %r7, %r7, %r3; st.shared.u32 [%r9], %r7;
    skip: bar.red.popc.u32 %r5, 0, !%p0; add.u32 %r1, %r1, %r5; bar.red.and.pred %p2, 0, %p0; selp.u32 %r6, 1, 0, %p2;
    add.u32 %r2, %r2, %r6; shr.u32 %r3, %r3, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra again; ld.shared.u32 %r4, [%r9]; ${store}`,
  "some threads have ended": `setp.ge.u32 %p0, %t, 70; @%p0 bra end; mov.u32 %r2, 0; setp.lt.u32 %p1, %t, 10;
    bar.red.popc.u32 %r1, 0, %p1; bar.red.and.pred %p2, 0, 1; selp.u32 %r2, 1, 0, %p2; mov.u32 %r3, 0; mov.u32 %r4, 1; ${store} end:`,
  "a branch that the result decides leads past barriers": `setp.lt.u32 %p0, %t, 3; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
    mov.u32 %r4, 0; and.b32 %r9, %b, 1; setp.eq.u32 %p4, %r9, 0; and.pred %p0, %p0, %p4; bar.red.or.pred %p1, 0, %p0;
    @!%p1 bra past; bar.red.popc.u32 %r1, 0, %p0; add.u32 %r2, %r1, %t; bar.sync 0; add.u32 %r3, %r3, 5;
    past: bar.red.popc.u32 %r4, 0, !%p0; ${store}`,
};

/** What all lanes do to one word, at a place of the block in global memory and in shared memory. */
const updates = (
  op: string,
  type: string,
): string => `mul.lo.u32 %r9, %i, -1640531527; and.b32 %r8, %t, 5; mov.u32 %r4, 0;
  setp.ne.u32 %p0, %r8, 0; setp.gt.u32 %p1, %t, 100000; setp.eq.u32 %p2, %t, 0; mov.u64 %rd2, 0;
  @%p2 st.shared.u32 [box], 12345; bar.sync 0;
  red.global.${op}.${type} [%words], %r9; @%p0 red.global.${op}.${type} [%words+4], %r9;
  @%p1 red.global.${op}.${type} [%rd2], %r9; red.shared.${op}.${type} [box], %r9; atom.global.${op}.${type} %r7, [%words+8], %t;
  setp.lt.u32 %p3, %r8, 4; @%p3 bra few; red.global.${op}.${type} [%words+12], %r8;
  red.shared.${op}.${type} [box], %t; add.u32 %r4, %r4, 9; few: @%p0 atom.shared.${op}.${type} %r6, [box], 3;
  red.global.${op}.${type} [%words+16], 1; red.global.${op}.${type} [%words+20], %b;
  bar.sync 0; ld.shared.u32 %r1, [box]; ld.global.u32 %r2, [%words+4]; ld.global.u32 %r3, [%words+12]; ${store}`;

const sizes = [7, 32, 100, 256];

describe("votes of a block", () => {
  for (const [name, body] of Object.entries(votes)) {
    for (const threads of sizes) test(`${name}, ${threads} threads`, () => void expectSame(body, threads));
  }

  test("a result is the number of threads that say yes", () => {
    const out = expectSame(votes["one after the other, used after further barriers"]!, 256);
    expect([...out.subarray(4 * 256, 4 * 256 + 4)]).toEqual([64, 1, 0, 0]);
  });
});

describe("words that all lanes update", () => {
  for (const [op, type] of [
    ...[
      ["add", "u32"],
      ["add", "s32"],
      ["and", "b32"],
      ["or", "b32"],
      ["xor", "b32"],
    ],
    ...[
      ["min", "u32"],
      ["min", "s32"],
      ["max", "u32"],
      ["max", "s32"],
      ["inc", "u32"],
      ["dec", "u32"],
    ],
  ] as const) {
    for (const threads of sizes) {
      const body = updates(op!, type!);
      test(`${op}.${type}, ${threads} threads`, () => void expectSame(body, threads));
      if (threads === 256 && op !== "inc" && op !== "dec")
        test(`${op}.${type}, several threads of the host`, () => void expectSame(body, threads, 4));
    }
  }
});
