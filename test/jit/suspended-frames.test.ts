import { describe, expect, test } from "vitest";
import { loadProgram } from "../../src/program/program.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { type Case, expectSame } from "./harness.ts";
import { noFeatures } from "../../src/wasm/index.ts";

/** Barriers with 256 bytes of shared memory after `box`; `f`s meet, or not, as their argument says. */
const functions = `
.shared .b32 box[64];
.shared .b32 lock;
.func (.reg .b32 %got) sum(.reg .b32 %mine, .reg .b32 %t)
{
.reg .b32 %b, %at, %x;
mov.u32 %b, box; mad.lo.u32 %at, %t, 4, %b; st.shared.u32 [%at], %mine;
bar.sync 0;
xor.b32 %x, %t, 33; mad.lo.u32 %at, %x, 4, %b; ld.shared.u32 %got, [%at];
bar.sync 0;
ret;
}
.func (.reg .b32 %got) some(.reg .b32 %mine, .reg .b32 %t)
{
.reg .pred %p; .reg .b32 %m;
and.b32 %m, %t, 3; setp.eq.u32 %p, %m, 0; mul.lo.u32 %got, %mine, 7; @%p ret;
bar.sync 0;
add.u32 %got, %got, 1;
ret;
}
.func (.reg .b32 %got) other(.reg .b32 %mine, .reg .b32 %t)
{
.local .align 4 .b32 keep[8]; .reg .b64 %a; .reg .b32 %i; .reg .b64 %w;
and.b32 %i, %t, 7; cvt.u64.u32 %w, %i; shl.b64 %w, %w, 2; mov.u64 %a, keep; add.u64 %a, %a, %w;
st.local.u32 [%a], %mine;
bar.sync 0;
ld.local.u32 %got, [%a]; sub.u32 %got, %got, %i;
ret;
}
.func (.reg .b32 %got) never(.reg .b32 %mine, .reg .b32 %t)
{
.local .align 4 .b32 own[8]; .reg .b64 %a; .reg .b32 %i; .reg .b64 %w;
and.b32 %i, %t, 7; cvt.u64.u32 %w, %i; shl.b64 %w, %w, 2; mov.u64 %a, own; add.u64 %a, %a, %w;
st.local.u32 [%a], 77; ld.local.u32 %got, [%a]; add.u32 %got, %got, %mine;
ret;
}
.func (.reg .b32 %got) leaves(.reg .b32 %mine, .reg .b32 %t)
{
.reg .pred %p, %q; .reg .b32 %m;
and.b32 %m, %t, 3; setp.eq.u32 %p, %m, 1; setp.eq.u32 %q, %m, 2; @%q exit; mov.u32 %got, %m; @%p ret;
bar.sync 0;
setp.eq.u32 %q, %t, 12; @%q exit;
add.u32 %got, %mine, 100;
ret;
}
.func (.reg .b32 %got) nested(.reg .b32 %mine, .reg .b32 %t)
{
.reg .b32 %x, %y; .reg .pred %p;
and.b32 %x, %t, 4; setp.eq.u32 %p, %x, 0; mov.u32 %y, 3; @%p bra second;
call (%y), some, (%mine, %t);
second: call (%x), some, (%y, %t);
mad.lo.u32 %got, %x, 3, %y;
ret;
}
.func (.param .align 8 .b8 back[16]) wide(.param .align 8 .b8 pair[16], .param .b32 t)
{
.reg .b64 %a, %b; .reg .b32 %t; .reg .pred %p;
ld.param.u64 %a, [pair]; ld.param.u64 %b, [pair+8]; ld.param.u32 %t, [t]; and.b32 %t, %t, 1; setp.eq.u32 %p, %t, 0;
@%p bra done; bar.sync 0; add.u64 %a, %a, %b;
done: st.param.u64 [back], %b; st.param.u64 [back+8], %a;
ret;
}
.func (.reg .b32 %got) take(.reg .b32 %mine, .reg .b32 %t)
{
.reg .pred %p; .reg .b32 %m, %a;
mov.u32 %a, lock;
again: atom.shared.cas.b32 %m, [%a], 0, 1; setp.ne.u32 %p, %m, 0; @%p bra again;
ld.shared.u32 %got, [%a+0]; add.u32 %got, %got, %mine;
ret;
}
.func free() { .reg .b32 %a; mov.u32 %a, lock; st.volatile.shared.u32 [%a], 0; ret; }
.func atEnd() { bar.sync 0; }
.func (.reg .b32 %got) atEndOrNot(.reg .b32 %t)
{
.reg .pred %p; mad.lo.u32 %got, %t, %t, 1; setp.gt.u32 %p, %t, 20; @%p ret; call atEnd, (); add.u32 %got, %got, 1; bar.sync 0;
}
.global .u64 table[4] = {some, other, never, sum};
`;

/**
 * \`deep\` calls itself as often as its argument says, keeps that in its frame, and waits on the way down and on the
 * way up.
 */
const recursive = `
.func (.reg .b32 %got) deep(.reg .b32 %n, .reg .b32 %t)
{
.local .align 4 .b32 keep[4]; .reg .b64 %a, %w; .reg .pred %p, %q; .reg .b32 %i, %x;
mov.u32 %got, %t; setp.eq.u32 %p, %n, 0; @%p ret;
and.b32 %i, %t, 3; cvt.u64.u32 %w, %i; shl.b64 %w, %w, 2; mov.u64 %a, keep; add.u64 %a, %a, %w; st.local.u32 [%a], %n;
and.b32 %i, %t, 1; setp.eq.u32 %q, %i, 0; @%q bra down; bar.sync 0;
down: sub.u32 %x, %n, 1; call (%x), deep, (%x, %t);
@!%q bra up; bar.sync 0;
up: ld.local.u32 %i, [%a]; mad.lo.u32 %got, %x, 3, %i;
ret;
}
.func (.reg .b32 %got) odd(.reg .b32 %n, .reg .b32 %t);
.func (.reg .b32 %got) even(.reg .b32 %n, .reg .b32 %t);
.global .u64 parity[2] = {even, odd};
.func (.reg .b32 %got) next(.reg .b32 %n, .reg .b32 %t)
{
.reg .b64 %d; .reg .b32 %i; .reg .b64 %w;
sub.u32 %n, %n, 1; and.b32 %i, %t, 1; cvt.u64.u32 %w, %i; shl.b64 %w, %w, 3; mov.u64 %d, parity; add.u64 %d, %d, %w; ld.global.u64 %d, [%d];
P: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);
call (%got), %d, (%n, %t), P;
ret;
}
.func (.reg .b32 %got) odd(.reg .b32 %n, .reg .b32 %t)
{
.reg .pred %p; bar.sync 0; mov.u32 %got, 1; setp.eq.u32 %p, %n, 0; @%p ret; call (%got), next, (%n, %t); shl.b32 %got, %got, 1; ret;
}
.func (.reg .b32 %got) even(.reg .b32 %n, .reg .b32 %t)
{
.reg .pred %p; mov.u32 %got, 3; setp.eq.u32 %p, %n, 0; @%p ret; call (%got), next, (%n, %t); bar.sync 0; mul.lo.u32 %got, %got, 3; ret;
}
`;

const deep = (n: number, t: number): number => (n === 0 ? t : 3 * deep(n - 1, t) + n);

const store = "st.global.v2.u32 [%out], {%r3, %r4};";

/** Calls a function of the table, whose number is in %r1. */
const indirect = (
  proto: string,
): string => `mov.u64 %d1, table; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2; ld.global.u64 %d1, [%d1];
${proto}: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);
call (%r3), %d1, (%r2, %t), ${proto};`;

const cases: readonly (Case & { readonly wanted?: (thread: number) => readonly [number, number] })[] = [
  {
    name: "some lanes return while others wait",
    body: `mul.lo.u32 %r2, %t, 3; call (%r3), some, (%r2, %t); activemask.b32 %r5; add.u32 %r4, %r3, %t; ${store}`,
    wanted: (t) => (t % 4 === 0 ? [21 * t, 22 * t] : [21 * t + 1, 22 * t + 1]),
  },
  {
    name: "those that have returned call again while the others wait",
    body: `mov.u32 %r4, 0; mov.u32 %r3, %t; loop: call (%r3), some, (%r3, %t); add.u32 %r4, %r4, 1;
and.b32 %r1, %t, 3; add.u32 %r1, %r1, 2; setp.lt.u32 %p1, %r4, %r1; @%p1 bra loop; ${store}`,
    wanted: (t) => {
      let x = t;
      for (let i = 0; i < (t % 4) + 2; i++) x = Math.imul(x, 7) + (t % 4 === 0 ? 0 : 1);
      return [x, (t % 4) + 2];
    },
  },
  {
    name: "two activations of one function, from two calls",
    body: `mul.lo.u32 %r2, %t, 3; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, 1; @%p1 bra even;
call (%r3), some, (%r2, %t); add.u32 %r4, %r3, 5; bra done;
even: add.u32 %r2, %r2, 1; call (%r3), other, (%r2, %t); done: ${store}`,
  },
  {
    name: "others use the stack while lanes wait",
    body: `mul.lo.u32 %r2, %t, 3; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, 1; @%p1 bra even;
call (%r3), other, (%r2, %t); bra done;
even: call (%r3), never, (%r2, %t); call (%r4), never, (%r3, %t); bar.sync 0; done: ${store}`,
    wanted: (t) => (t % 2 === 0 ? [3 * t + 77, 3 * t + 154] : [3 * t - (t % 8), 1]),
  },
  {
    name: "lanes that end in a function, before and after a barrier",
    body: `mov.u32 %r4, 9; mul.lo.u32 %r2, %t, 3; st.global.u32 [%out], 5; call (%r3), leaves, (%r2, %t); call (%r4), leaves, (%r3, %t); ${store}`,
    wanted: (t) => (t % 4 === 2 || t === 12 ? [5, 0] : t % 4 === 1 ? [1, 1] : [3 * t + 100, 3 * t + 200]),
  },
  {
    name: "activations within activations",
    body: `mul.lo.u32 %r2, %t, 3; call (%r3), nested, (%r2, %t); call (%r4), nested, (%r3, %t); ${store}`,
  },
  {
    name: "arguments and results in memory",
    body: `{ .param .align 8 .b8 a[16]; .param .b32 b; .param .align 8 .b8 r[16];
cvt.u64.u32 %d1, %t; mul.lo.u64 %d2, %d1, 5; st.param.u64 [a], %d1; st.param.u64 [a+8], %d2; st.param.u32 [b], %t;
call (r), wide, (a, b); ld.param.u64 %d3, [r]; ld.param.u64 %d4, [r+8]; }
cvt.u32.u64 %r3, %d3; cvt.u32.u64 %r4, %d4; ${store}`,
    wanted: (t) => [5 * t, t % 2 === 0 ? t : 6 * t],
  },
  {
    name: "functions that end with a barrier, in a kernel that does",
    body: `call (%r3), atEndOrNot, (%t); call (%r4), atEndOrNot, (%r3); ${store} bar.sync 0;`,
    wanted: (t) => {
      const once = (x: number): number => x * x + (x > 20 ? 1 : 2);
      return [once(t), once(once(t))];
    },
  },
  {
    name: "functions called by address, of which some wait",
    body: `and.b32 %r1, %t, 3; min.u32 %r1, %r1, 2; mul.lo.u32 %r2, %t, 3; ${indirect("P")} mov.u32 %r4, %r1; ${store}`,
    wanted: (t) => {
      const which = Math.min(t % 4, 2);
      return [which === 0 ? 21 * t : which === 1 ? 3 * t - (t % 8) : 3 * t + 77, which];
    },
  },
  {
    name: "all call one function by address",
    body: `mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, 3; and.b32 %r1, %r1, 3; mul.lo.u32 %r2, %t, 3; ${indirect("P")} mov.u32 %r4, %r1; ${store}`,
  },
  {
    name: "functions called by address in a loop",
    body: `mov.u32 %r4, 0; mov.u32 %r2, %t; loop: add.u32 %r1, %t, %r4; rem.u32 %r1, %r1, 3; ${indirect("P")} add.u32 %r2, %r3, %r2;
bar.sync 0; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 7; @%p1 bra loop; ${store}`,
  },
  {
    name: "a function that calls itself, each lane as often as it likes",
    body: `and.b32 %r1, %t, 3; call (%r3), deep, (%r1, %t); and.b32 %r1, %t, 7; call (%r4), deep, (%r1, %r3); ${store}`,
    wanted: (t) => [deep(t % 4, t), deep(t % 8, deep(t % 4, t)) | 0],
  },
  {
    name: "functions that call each other by address",
    body: `shr.u32 %r1, %t, 2; and.b32 %r1, %r1, 3; call (%r3), even, (%r1, %t); add.u32 %r1, %r1, 1; call (%r4), odd, (%r1, %t); ${store}`,
    wanted: (t) => {
      const [twoOrThree, last] = t % 2 === 0 ? [3, 3] : [2, 1];
      const n = (t >> 2) % 4;
      // The first is called by name, the others as the lowest bit says.
      return [n === 0 ? 3 : 3 * twoOrThree ** (n - 1) * last, 2 * twoOrThree ** n * last];
    },
  },
  {
    name: "a lock that is taken in a function, one lane at a time",
    body: `mov.u32 %r2, 10; call (%r3), take, (%r2, %t); mov.u64 %d5, counter; ld.volatile.global.u32 %r4, [%d5]; add.u32 %r4, %r4, 1;
st.volatile.global.u32 [%d5], %r4; call free, (); mov.u32 %r4, 2; bar.sync 0; ld.volatile.global.u32 %r4, [%d5]; ${store}`,
  },
];

/** What a kernel that is compiled asks of those who launch it. */
function compiled(body: string, before = functions) {
  const text = `.version 8.6\n.target sm_100a\n.address_size 64\n${before}\n.visible .entry k() { .reg .b32 %r<9>, %t; mov.u32 %t, %tid.x; ${body} }`;
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const kernel = new JitProgram(loadProgram(new PtxDevice().memory, module!)).compiled("k", [64, 1, 1], noFeatures);
  if (typeof kernel === "string") throw new Error(kernel);
  return kernel;
}

test("launches of functions that pause need not be undone, unless they call themselves", () => {
  expect(compiled("call (%r1), some, (%r2, %t);").mayGiveUp).toBe(false);
  expect(compiled("call (%r1), nested, (%r2, %t);").mayGiveUp).toBe(false);
  expect(compiled("call (%r1), deep, (%r2, %t);", recursive).mayGiveUp).toBe(true);
});

describe("activations that wait", () => {
  test.each(cases)("$name", ({ wanted, ...c }) => {
    const block = [50, 1, 1] as const;
    const { reports, out } = expectSame({
      before: `${functions}${recursive}.global .u32 counter;`,
      block,
      words: 2,
      ...c,
    });
    expect(reports).toEqual([]);
    if (wanted === undefined) expect(new Set(out).size).toBeGreaterThan(1);
    else expect(out).toEqual(Array.from({ length: block[0] }, (_, t) => wanted(t)).flat());
  });
});
