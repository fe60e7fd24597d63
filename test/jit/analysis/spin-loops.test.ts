import { expect, test } from "vitest";
import { loadProgram } from "../../../src/program/program.ts";
import { prepare } from "../../../src/jit/compile/analysis/code/prepared-code.ts";
import { spinLoops } from "../../../src/ir/flow/spin-loops.ts";
import { DeviceMemory } from "../../../src/machine/memory/memory.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { SourceText } from "../../../src/source/index.ts";

/** The loops of a kernel's body that may wait for others. */
function spinsOf(body: string) {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
.reg .b64 %a, %b, %c; .reg .b32 %i, %j, %n, %x, %s; .reg .pred %p;
ld.param.u64 %a, [out]; ld.param.u32 %n, [n]; mov.u32 %i, 0; mov.u32 %j, 0; mov.u32 %s, 0;
${body}
ret;
}`;
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  const { bindings } = loadProgram(new DeviceMemory(), module);
  const { graph, instructions } = prepare({ ir: module.functions[0]!, origins: null }, bindings, {
    endsBlock: () => false,
    separates: true,
  });
  const sees = ({ op }: (typeof instructions)[number]): boolean =>
    op.kind === "atomic" || op.kind === "sleep" || (op.kind === "load" && op.access.volatile);
  return spinLoops(graph, instructions, sees);
}

test.each([
  [0, "a loop that sees nothing", "L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;"],
  [
    0,
    "one that adds so many times",
    "L: atom.global.add.u32 %x, [%a], 1; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
  ],
  [
    0,
    "one that adds where it has loaded how much",
    "L: ld.volatile.global.u32 %x, [%a]; red.global.add.u32 [%a], %x; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 9; @%p bra L;",
  ],
  [
    0,
    "one that loads how far it adds, and leaves out some of a round",
    `L: atom.global.add.u32 %x, [%a], 1; setp.eq.u32 %p, %x, 5; @%p bra M; st.global.u32 [%a+8], %x;
     M: add.u32 %i, %i, 1; ld.global.u32 %n, [%a+4]; setp.lt.u32 %p, %i, %n; @%p bra L;`,
  ],
  [
    0,
    "one that counts down to a number that it loads, with a copy of its counter",
    `L: atom.global.add.u32 %x, [%a], 1; sub.u32 %j, %i, 3; ld.global.u32 %n, [%a+4]; setp.le.u32 %p, %i, %n;
     mov.u32 %i, %j; @%p bra E; bra L; E:`,
  ],
  [
    0,
    "one that ends by the number of a loop within",
    `O: ld.global.u32 %n, [%a]; mov.u32 %j, 0; L: atom.global.add.u32 %x, [%a], 1; add.u32 %j, %j, 1;
     setp.lt.u32 %p, %j, %n; @%p bra L; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra O;`,
  ],
  [
    0,
    "one that strides over a grid, and leaves out some of a round",
    `mov.u32 %s, %nctaid.x;
     L: ld.volatile.global.u32 %x, [%a]; setp.eq.u32 %p, %x, 0; @%p bra M; red.global.add.u32 [%a+8], %x;
     M: add.u32 %i, %s, %i; setp.lt.u32 %p, %i, %n; @%p bra L;`,
  ],
  [
    0,
    "one whose counter is an index of 64 bits, too",
    `mov.u32 %s, %nctaid.x; L: cvt.s64.s32 %b, %i; shl.b64 %c, %b, 2; add.s64 %c, %a, %c;
     ld.volatile.global.u32 %x, [%c]; setp.eq.u32 %p, %x, 0; @%p bra M; red.global.add.u32 [%a+8], %x;
     M: cvt.u32.u64 %j, %b; add.s32 %i, %j, %s; setp.lt.s32 %p, %i, %n; @%p bra L;`,
  ],
  [
    1,
    "one with a stride that it loads",
    `L: ld.volatile.global.u32 %s, [%a]; red.global.add.u32 [%a+8], 1; add.u32 %i, %i, %s;
     setp.lt.u32 %p, %i, %n; @%p bra L;`,
  ],
  [
    1,
    "one whose stride others may have changed",
    `L: red.global.add.u32 [%a+8], 1; add.u32 %i, %i, %s; ld.volatile.global.u32 %s, [%a];
     setp.lt.u32 %p, %i, %n; @%p bra L;`,
  ],
  [
    1,
    "one that strides by what a clock says",
    `L: ld.volatile.global.u32 %x, [%a]; mov.u32 %s, %clock; add.u32 %i, %i, %s; setp.lt.u32 %p, %i, %n; @%p bra L;`,
  ],
  [
    1,
    "one that adds until others write a number",
    "L: ld.volatile.global.u32 %n, [%a]; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
  ],
  [
    1,
    "one that ends where a number is the one loaded",
    "L: atom.global.add.u32 %x, [%a], 1; add.u32 %i, %i, 1; ld.global.u32 %n, [%a]; setp.ne.u32 %p, %i, %n; @%p bra L;",
  ],
  [
    1,
    "one that adds in some rounds",
    `L: atom.global.add.u32 %x, [%a], 1; setp.eq.u32 %p, %x, 5; @%p bra M; add.u32 %i, %i, 1;
     M: ld.global.u32 %n, [%a+4]; setp.lt.u32 %p, %i, %n; @%p bra L;`,
  ],
  [
    1,
    "one that adds what it loads",
    `L: atom.global.add.u32 %x, [%a], 1; ld.global.u32 %n, [%a+4]; add.u32 %i, %i, %n; setp.lt.u32 %p, %i, %n;
     @%p bra L;`,
  ],
  [
    1,
    "one that lanes leave also by what others write",
    `L: atom.global.add.u32 %x, [%a], 1; setp.eq.u32 %p, %x, 5; @%p bra E; add.u32 %i, %i, 1;
     ld.global.u32 %n, [%a+4]; setp.lt.u32 %p, %i, %n; @%p bra L; E:`,
  ],
  [1, "one that waits for a word", "L: ld.volatile.global.u32 %x, [%a]; setp.ne.u32 %p, %x, 0; @%p bra L;"],
  [
    1,
    "one that waits for a number that it has copied",
    "L: atom.global.add.u32 %x, [%a], 0; add.u32 %j, %x, 1; mov.u32 %i, %j; setp.lt.u32 %p, %i, %n; @%p bra L;",
  ],
  [
    1,
    "one whose count depends on a word by a guard",
    "L: ld.volatile.global.u32 %x, [%a]; setp.eq.u32 %p, %x, 1; @%p add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;",
  ],
  [
    1,
    "one that lanes leave by returning",
    "L: ld.volatile.global.u32 %x, [%a]; setp.eq.u32 %p, %x, 1; @%p ret; bra L;",
  ],
  [
    1,
    "one that waits until some time",
    "L: ld.volatile.global.u32 %x, [%a]; mov.u32 %i, %clock; setp.lt.u32 %p, %i, %n; @%p bra L;",
  ],
  [
    2,
    "a loop around one that waits",
    `O: add.u32 %i, %i, 1;
     L: ld.volatile.global.u32 %x, [%a]; setp.ne.u32 %p, %x, 0; @%p bra L;
     setp.lt.u32 %p, %i, %n; @%p bra O;`,
  ],
])("%i: %s", (count, _, body) => {
  expect(spinsOf(body).all.size).toBe(count);
});

test.each([
  [true, "asks for a phase", "L: mbarrier.test_wait.shared.b64 %p, [%s], %a; @!%p bra L;"],
  [
    true,
    "asks, counts and sleeps",
    "L: add.u32 %i, %i, 1; nanosleep.u32 %i; mbarrier.test_wait.shared.b64 %p, [%s], %a; @!%p bra L;",
  ],
  [false, "waits for a word", "L: ld.volatile.global.u32 %x, [%a]; setp.ne.u32 %p, %x, 0; @%p bra L;"],
  [
    false,
    "asks for a phase, and for a word",
    `L: mbarrier.test_wait.shared.b64 %p, [%s], %a; ld.volatile.global.u32 %x, [%a];
     @!%p bra L;`,
  ],
])("only asks others for what they say in their own turns: %s, a loop that %s", (only, _, body) => {
  const { all, polls } = spinsOf(body);
  expect([all.size, polls.size]).toEqual([1, only ? 1 : 0]);
});

test("a loop around one that asks does more", () => {
  const { all, polls } = spinsOf(`O: mbarrier.arrive.shared.b64 %a, [%s];
    L: mbarrier.test_wait.shared.b64 %p, [%s], %a; @!%p bra L;
    mbarrier.test_wait.shared.b64 %p, [%s], %a; @%p bra O;`);
  expect([all.size, polls.size]).toEqual([2, 1]);
});
