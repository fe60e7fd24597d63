import { describe, expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

// Lanes of a warp leave a loop one by one, each after as many rounds as it has counted: it waits for nobody, whatever it
// does to memory meanwhile. Both engines let all lanes of it come to its end before any goes on, which `activemask`
// shows. Where a lane may wait for others, these go on.

const text = (body: string, functions = ""): string => `.version 8.0
.target sm_80
.address_size 64
${functions}
.visible .entry k(.param .u64 out, .param .u64 bins) {
  .reg .b64 %out, %bins, %at; .reg .b32 %t, %n, %m, %x, %sum; .reg .pred %p, %q;
  ld.param.u64 %out, [out]; ld.param.u64 %bins, [bins]; mov.u32 %t, %tid.x; mov.u32 %sum, 0;
  and.b32 %n, %t, 3; mad.lo.u32 %n, %n, 90, 5;
  ${body}
  activemask.b32 %x; mad.wide.u32 %at, %t, 8, %out; st.global.v2.u32 [%at], {%x, %sum};
  ret;
}`;

const loop = (update: string): string => `L: ${update} sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra L;`;

const add = `.func add(.param .b64 at) { .reg .b64 %a; ld.param.u64 %a, [at]; red.global.add.u32 [%a], 1; ret; }`;

const masksOf = (block: number, body: string, functions?: string): number[] => {
  const buffers = [new Uint8Array(8 * block), new Uint8Array(64)];
  const [out] = expectSameResults({ text: text(body, functions), buffers, launch: { grid: 1, block } });
  const words = new Uint32Array(out!.slice().buffer);
  return Array.from({ length: block }, (_, i) => words[2 * i]! | 0);
};

describe("all lanes go on together after a loop that counts", () => {
  test.each([
    ["and adds", loop("red.global.add.u32 [%bins], 1;")],
    ["and forgets what was there", loop("atom.global.add.u32 _, [%bins], 1;")],
    ["and has what was there in a register that nobody reads", loop("atom.global.add.u32 %m, [%bins], 1;")],
    ["and sums up what was there", loop("atom.global.and.b32 %m, [%bins], 7; add.u32 %sum, %sum, %m;")],
    [
      "and looks at memory in a way that sees others",
      loop("ld.volatile.global.u32 %m, [%bins]; add.u32 %sum, %sum, %m;"),
    ],
    [
      "and adds in some rounds only",
      loop("and.b32 %m, %n, 1; setp.eq.u32 %q, %m, 0; @%q red.global.add.u32 [%bins], %n;"),
    ],
    [
      "around another one",
      `O: mov.u32 %m, 40; I: red.shared::cta.add.u32 [s], 1; sub.u32 %m, %m, 1; setp.ne.u32 %q, %m, 0; @%q bra I;
       sub.u32 %n, %n, 5; setp.gt.s32 %p, %n, 0; @%p bra O;`,
    ],
    [
      "to a number that it loads",
      `mov.u32 %m, 0; st.global.u32 [%bins+8], 300; mul.lo.u32 %n, %n, 1;
       L: red.global.add.u32 [%bins], 1; ld.global.u32 %x, [%bins+8]; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %x; @%p bra L;`,
    ],
  ])("%s", (_, body) => {
    const shared = ".shared .b32 s;";
    expect(new Set(masksOf(64, body, shared))).toEqual(new Set([-1]));
  });

  test("where it is a function that adds", () => {
    const call = "{ .param .b64 a; st.param.b64 [a], %bins; call add, (a); }";
    expect(masksOf(64, loop(call), add).every((mask) => mask !== 0)).toBe(true);
  });
});

describe("lanes that wait for others let these go on", () => {
  test.each([
    // Lane 31 goes on and raises the flag for which the others look.
    ["for a flag", "L: ld.volatile.global.u32 %m, [%bins+4]; setp.eq.u32 %p, %m, 0; @%p bra L;"],
    ["with an update", "L: atom.global.or.b32 %m, [%bins+4], 0; setp.eq.u32 %p, %m, 0; @%p bra L;"],
    [
      "for a flag, adding beside it",
      "L: red.global.add.u32 [%bins], 1; ld.global.u32 %m, [%bins+4]; setp.eq.u32 %p, %m, 0; @%p bra L;",
    ],
    [
      "for a flag, each of many rounds",
      `L: mov.u32 %n, 3; I: red.global.add.u32 [%bins], 1; sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra I;
       ld.volatile.global.u32 %m, [%bins+4]; setp.eq.u32 %p, %m, 0; @%p bra L;`,
    ],
  ])("%s", (_, wait) => {
    const body = `setp.eq.u32 %q, %t, 31; @%q bra RAISE; ${wait} bra DONE;
      RAISE: st.volatile.global.u32 [%bins+4], 1; DONE: bar.warp.sync -1; st.global.u32 [%bins], 0;`;
    expect(new Set(masksOf(32, body))).toEqual(new Set([-1]));
  });
});
