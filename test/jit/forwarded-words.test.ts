import { describe, expect, test } from "vitest";
import { expectSame } from "./harness.ts";

// Words of shared memory that lanes store and others load again, in blocks that may be one chunk. The interpreter is
// the reference. `%r9`: the variable; `%r8`: the thread; `%r7`: what is stored to the result in the end.

const before = ".shared .align 16 .b8 s[2048]; .shared .align 16 .b8 o[512];";
const fill = `mov.u32 %r9, s; mov.u32 %r8, %tid.x; mad.lo.u32 %r10, %r8, 4, %r9; mov.u32 %r7, 0;
  mad.lo.u32 %r11, %r8, 2654435761, 77; st.shared.u32 [%r10], %r11; 
  // Where no lanes diverge, there is no code for converged ones.
  setp.eq.u32 %p9, %r8, 1; @%p9 bra F; st.shared.u32 [%r10+256], %r11; F: bar.sync 0;
  // the neighbours' words, around the end
  mov.u32 %r12, %ntid.x; add.u32 %r13, %r8, 1; rem.u32 %r13, %r13, %r12; mad.lo.u32 %r13, %r13, 4, %r9;
  add.u32 %r14, %r8, %r12; sub.u32 %r14, %r14, 1; rem.u32 %r14, %r14, %r12; mad.lo.u32 %r14, %r14, 4, %r9;
  // unknown, but the same in all threads: 0
  ld.global.u32 %r30, [%out];`;
const sizes = [4, 13, 16, 32, 48];

const same = (body: string, blocks = sizes): void => {
  for (const x of blocks) {
    const all = { name: "", before, body: `${fill} ${body} st.global.u32 [%out], %r7; ret;`, words: 1 };
    expect(expectSame({ ...all, block: [x, 1, 1], grid: [3, 1, 1] }).reports).toEqual([]);
  }
};

/** Adds what a place holds to the result. */
const add = (place: string): string => `ld.shared.u32 %r1, [${place}]; mad.lo.u32 %r7, %r7, 31, %r1;`;
const neighbours = `${add("%r13")} ${add("%r14")} ${add("%r10")}`;
const store = (value: string, place = "%r10"): string => `st.shared.u32 [${place}], ${value};`;

describe("words come from the lanes that have stored them", () => {
  test.each([
    ["at once after the barrier", `${neighbours}`],
    ["twice, the second time from what was loaded", `${neighbours} bar.sync 0; ${neighbours}`],
    ["stored again", `${neighbours} bar.sync 0; add.u32 %r2, %r7, 3; ${store("%r2")} bar.sync 0; ${neighbours}`],
    ["stored to the neighbour", `bar.sync 0; add.u32 %r2, %r11, 3; ${store("%r2", "%r13")} bar.sync 0; ${neighbours}`],
    [
      "stored backwards",
      `sub.u32 %r3, %r12, %r8; mad.lo.u32 %r3, %r3, 4, %r9; ${store("%r8", "%r3+508")} bar.sync 0;
      ${add("%r10+512")}`,
    ],
    ["stored in columns", `mad.lo.u32 %r3, %r8, 20, %r10; ${store("%r11", "%r3+512")} bar.sync 0; ${add("%r3+512")}`],
  ])("%s", (_, body) => same(body));

  test("a wave of diagonals", () => {
    const step = (m: number): string => `setp.gt.s32 %p1, %r8, ${m}; @%p1 bra N${m};
      ld.shared.u32 %r1, [%r21+${4 * m}]; ld.shared.u32 %r2, [%r21+${4 * m + 4}]; ld.shared.u32 %r3, [%r21+${68 + 4 * m}];
      xor.b32 %r4, %r1, %r2; add.u32 %r4, %r4, %r3; st.shared.u32 [%r21+${72 + 4 * m}], %r4;
      N${m}: bar.sync 0;`;
    same(
      `mad.lo.u32 %r20, %r8, 64, %r9; add.u32 %r21, %r20, 600; st.shared.u32 [%r21], %r11; bar.sync 0;
      ${[0, 1, 2, 3, 4, 5].map(step).join("\n")} ${add("%r21+8")} ${add("%r21+16")} ${add("%r21+24")}`,
      [4, 8, 16],
    );
  });
});

describe("words that registers do not hold any more", () => {
  test.each([
    [
      "the register is written again",
      `bar.sync 0; add.u32 %r2, %r11, 5; ${store("%r2")} mov.u32 %r2, 9; bar.sync 0;
      ${neighbours} add.u32 %r7, %r7, %r2;`,
    ],
    [
      "written again by some",
      `bar.sync 0; add.u32 %r2, %r11, 5; ${store("%r2")} setp.lt.u32 %p1, %r8, 3;
      @%p1 mov.u32 %r2, 9; bar.sync 0; ${neighbours} add.u32 %r7, %r7, %r2;`,
    ],
    [
      "of 16 bits",
      `.reg .b16 %h; cvt.u16.u32 %h, %r11; cvt.u32.u16 %r2, %h; bar.sync 0; ${store("%r2")} bar.sync 0;
      ${neighbours}`,
    ],
    ["a byte is stored to them", `st.shared.u8 [%r10+1], %r8; bar.sync 0; ${neighbours}`],
    ["a half is stored beside them", `st.shared.u16 [%r10+258], %r8; bar.sync 0; ${neighbours} ${add("%r10+256")}`],
    [
      "two words are stored",
      `shl.b32 %r2, %r8, 3; add.u32 %r2, %r2, %r9; bar.sync 0; setp.lt.u32 %p1, %r8, 2;
      @%p1 st.shared.v2.u32 [%r2], {%r8, %r12}; bar.sync 0; ${neighbours}`,
    ],
    ["a strong store", `bar.sync 0; st.volatile.shared.u32 [%r10], %r8; bar.sync 0; ${neighbours}`],
    ["an atomic operation", `bar.sync 0; atom.shared.add.u32 %r2, [%r10], %r8; bar.sync 0; ${neighbours}`],
    [
      "by a generic address",
      `bar.sync 0; cvt.u64.u32 %d1, %r10; cvta.shared.u64 %d1, %d1; st.u32 [%d1], %r8;
      bar.sync 0; ${neighbours}`,
    ],
    [
      "at an address out of memory",
      `bar.sync 0; st.shared.u32 [o], %r9; bar.sync 0; ld.shared.u32 %r2, [o]; bar.sync 0;
      setp.eq.u32 %p1, %r8, 0; @%p1 st.shared.u32 [%r2+4], %r8; bar.sync 0; ${neighbours}`,
    ],
    [
      "in a loop",
      `mov.u32 %r2, 0; L: add.u32 %r3, %r2, %r8; bar.sync 0; ${store("%r3")} bar.sync 0; ${neighbours}
      add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra L; ${neighbours}`,
    ],
    [
      "in a loop without barriers",
      `bar.sync 0; mov.u32 %r2, 0; L: ${store("%r2")} add.u32 %r2, %r2, 1;
      setp.le.u32 %p1, %r2, %r8; @%p1 bra L; bar.sync 0; ${neighbours}`,
    ],
    [
      "by threads that are not known",
      `bar.sync 0; and.b32 %r2, %r11, 256; setp.ne.u32 %p1, %r2, 0; @%p1 bra N;
      ${store("%r8")} N: bar.sync 0; ${neighbours}`,
    ],
    [
      "by a guard that is not known",
      `bar.sync 0; and.b32 %r2, %r11, 256; setp.ne.u32 %p1, %r2, 0;
      @%p1 ${store("%r8")} bar.sync 0; ${neighbours}`,
    ],
    [
      "if all threads go a way that is not known",
      `setp.ne.u32 %p1, %r30, 0; bar.sync 0; @%p1 bra N; ${store("%r8")}
      bar.sync 0; ${neighbours} bra M; N: ${store("%r12")} bar.sync 0; M: bar.sync 0; ${neighbours}`,
    ],
    [
      "beyond a way that all threads take",
      `setp.ne.u32 %p1, %r30, 1; bar.sync 0; @%p1 bra N; ${store("%r8")}
      bar.sync 0; N: ${neighbours} bar.sync 0; ${neighbours}`,
    ],
    [
      "beyond a way that all threads take, as the size of the block says",
      `setp.lt.u32 %p1, %r12, 1000; bar.sync 0;
      @%p1 bra N; ${store("%r8")} bar.sync 0; N: ${neighbours} bar.sync 0; ${neighbours}`,
    ],
    [
      "where some leave the code early",
      `setp.lt.u32 %p1, %r12, 1000; bar.sync 0; @%p1 bra N; ${store("%r8")} bar.sync 0;
      ${neighbours} st.global.u32 [%out], %r7; ret; N: ${neighbours}`,
    ],
  ])("%s", (_, body) => same(body));

  test("other threads store between the same barriers, in one object a lane at a time", () => {
    // Each loads before it stores, and stores what nobody else loads before the next barrier.
    same(`bar.sync 0; ${add("%r10")} add.u32 %r2, %r11, 1; ${store("%r2")} ${add("%r10")} bar.sync 0; ${neighbours}`);
  });

  test("the NaN that is stored is PTX's", () => {
    same(`mov.b32 %f1, %r11; mov.b32 %f2, 0x7f800000; sub.f32 %f3, %f2, %f2; add.f32 %f3, %f3, %f1; bar.sync 0;
      st.shared.f32 [%r10], %f3; bar.sync 0; ${neighbours}`);
    same(`mov.f32 %f3, 0f00000000; mov.b32 %f2, 0x7f800000; mov.u32 %r2, 0; L: sub.f32 %f4, %f2, %f2;
      add.f32 %f3, %f3, %f4; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra L; bar.sync 0;
      st.shared.f32 [%r10], %f3; bar.sync 0; ${neighbours}`);
  });

  test("the code for any lanes goes on where converged code ends", () => {
    same(`${neighbours} bar.sync 0; add.u32 %r2, %r7, 1; ${store("%r2")} bar.sync 0; and.b32 %r3, %r11, 64;
      setp.ne.u32 %p1, %r3, 0; mov.u32 %r4, 0; @%p1 bra N; L: add.u32 %r4, %r4, 3; and.b32 %r5, %r4, 7;
      setp.ne.u32 %p2, %r5, %r30; @%p2 bra L; N: add.u32 %r7, %r7, %r4; bar.sync 0; ${neighbours}`);
  });

  test("a fault ends the launch as it does in the interpreter", () => {
    const body = `${fill} bar.sync 0; ${store("%r8")} bar.sync 0; ${neighbours} setp.eq.u32 %p1, %r8, 3;
      @%p1 ld.shared.u32 %r1, [%r10+4000]; bar.sync 0; st.global.u32 [%out], %r7; ret;`;
    for (const x of [4, 16]) {
      const { reports } = expectSame({ name: "", before, body, words: 1, block: [x, 1, 1] });
      expect(reports).toMatchObject([{ code: "shared-out-of-bounds" }]);
    }
  });
});
