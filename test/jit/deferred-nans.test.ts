import { describe, expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

// PTX has one NaN as a result of arithmetic, 0x7fffffff (0x7ff8000000000000 for 64 bits); what is loaded or moved keeps
// its bits.

const threads = 64;

const kernelOf = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 4 .b8 blob[4]) {
.reg .pred %p<4>; .reg .b32 %i, %n, %r, %w; .reg .f32 %f<9>; .reg .f64 %g<4>; .reg .b64 %x, %y, %a, %b;
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [blob];
mov.u32 %i, %tid.x; mad.wide.u32 %a, %i, 4, %x; mad.wide.u32 %b, %i, 8, %y; mov.u32 %r, 0;
${body}
}`;

/** Goes around `%n` times, over elements of `x`. */
const loop = (begin: string, round: string, end: string): string => `${begin}
LOOP: setp.ge.u32 %p1, %r, %n; @%p1 bra END; ld.global.f32 %f1, [%a]; ${round}
add.s64 %a, %a, 4; add.u32 %r, %r, 1; bra LOOP;
END: ${end} ret;`;

const special = [0x7fc1_2345, 0xffc0_0001, 0x7f80_0001, 0x7f80_0000, 0xff80_0000, 0x3f80_0000, 0x8000_0000, 1];
const x = new Uint8Array(Uint32Array.from({ length: 96 }, (_, i) => (i % 5 === 0 ? special[(i >> 2) % 8]! : i)).buffer);

function resultsOf(body: string, rounds: number): Uint32Array {
  const blob = new Uint8Array(Uint32Array.of(rounds).buffer);
  const launch = { grid: 1, block: threads };
  const [, y] = expectSameResults({ text: kernelOf(body), buffers: [x, new Uint8Array(8 * threads)], blob, launch });
  return new Uint32Array(y!.buffer, y!.byteOffset, 2 * threads);
}

const isNan = (word: number): boolean => (word & 0x7fff_ffff) > 0x7f80_0000;
const nansOf = (words: Uint32Array): Set<number> => new Set(words.filter((word, i) => i % 2 === 0 && isNan(word)));

const zero = "mov.f32 %f2, 0f00000000;";
const add = "add.rn.f32 %f2, %f2, %f1;";

describe("a sum that a loop makes", () => {
  test.each([
    ["stored after it", loop(zero, add, "st.global.f32 [%b], %f2;")],
    ["moved on first", loop(zero, add, "mov.f32 %f3, %f2; st.global.f32 [%b], %f3;")],
    ["through two registers", loop(zero, "add.rn.f32 %f3, %f2, %f1; mov.f32 %f2, %f3;", "st.global.f32 [%b], %f2;")],
    ["stored by some", loop(zero, add, "setp.lt.u32 %p2, %i, 37; @%p2 st.global.f32 [%b], %f2;")],
    ["taken as an integer", loop(zero, add, "mov.b32 %w, %f2; and.b32 %w, %w, -1; st.global.u32 [%b], %w;")],
    ["stored in each round, too", loop(zero, `${add} st.global.f32 [%b], %f2;`, "st.global.f32 [%b], %f2;")],
  ])("%s", (_, body) => {
    for (const rounds of [1, 4, 30]) expect(nansOf(resultsOf(body, rounds))).toEqual(new Set([0x7fff_ffff]));
  });

  test("of 64 bits", () => {
    const body = loop(
      "mov.f64 %g2, 0d0000000000000000;",
      "cvt.f64.f32 %g1, %f1; add.rn.f64 %g2, %g2, %g1;",
      "st.global.f64 [%b], %g2;",
    );
    const words = resultsOf(body, 7);
    const upper = words.filter((word, i) => i % 2 === 1 && (word & 0x7fff_ffff) >= 0x7ff8_0000);
    expect(new Set(upper)).toEqual(new Set([0x7ff8_0000]));
  });
});

describe("what no arithmetic has touched", () => {
  test.each([
    ["a load", "ld.global.f32 %f2, [%a];"],
    ["a number of the program", "mov.f32 %f2, 0f7FC12345;"],
  ])("keeps its bits: %s", (_, begin) => {
    const body = loop(begin, add, "st.global.f32 [%b], %f2;");
    expect(nansOf(resultsOf(body, 0))).toContain(0x7fc1_2345);
    expect(nansOf(resultsOf(body, 3))).toEqual(new Set([0x7fff_ffff]));
  });
});
