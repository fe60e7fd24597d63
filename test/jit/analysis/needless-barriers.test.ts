import { expect, test } from "vitest";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import { needlessBarriersOf } from "../../../src/jit/compile/analysis/access/needless-barriers.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../../src/runtime/device/device-core.ts";
import { SourceText } from "../../../src/source/index.ts";

/** Which of a kernel's barriers are needless, counted from 0. `s` has 129 words of shared memory, `at` is the thread's. */
function needlessIn(body: string, block: Dim3 = [128, 1, 1]): readonly number[] {
  const text = `.version 8.6
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {
.shared .align 4 .b32 s[129];
.reg .b32 %r<20>, %t, %s, %at, %before;
.reg .b64 %x;
.reg .pred %p<5>;
ld.param.u64 %x, [x]; ld.param.u32 %r9, [n]; mov.u32 %t, %tid.x; mov.u32 %s, s; mad.lo.u32 %at, %t, 4, %s; sub.u32 %before, %at, 4;
${body}
ret; }`;
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const program = loadProgram(new DeviceCore().memory, module!);
  const { ir } = program.functionNamed("k")!;
  const barriers = ir.instructions.flatMap(({ op }, i) => (op.kind === "barrier" ? [i] : []));
  const found = needlessBarriersOf(ir, block, program.bindings, program.shared.extents);
  return found.map((i) => barriers.indexOf(i));
}

const load = (distance: number): string => `ld.shared.u32 %r1, [%at+${4 * distance}];`;
const store = "st.shared.u32 [%at], %r1;";

test.each([
  ["each thread reads its successor's word and writes its own", `${load(1)} bar.sync 0; ${store}`, [0]],
  ["each thread reads and writes its own", `${load(0)} bar.sync 0; ${store}`, [0]],
  ["the other way around", `${store} bar.sync 0; ${load(1)}`, []],
  ["each thread reads the word of the one before it", `ld.shared.u32 %r1, [%before]; bar.sync 0; ${store}`, []],
  ["what follows may fail", `${load(0)} bar.sync 0; st.shared.u32 [%at+8], %r1;`, []],
  ["what follows is in global memory", `${load(1)} bar.sync 0; st.global.u32 [%x], %r1;`, []],
  [
    "an address depends on a parameter",
    `mad.lo.u32 %r2, %r9, 4, %at; ld.shared.u32 %r1, [%r2]; bar.sync 0; ${store}`,
    [],
  ],
  ["only reads", `${load(1)} bar.sync 0; ${load(0)}`, [0]],
  ["an atomic operation", `atom.shared.add.u32 %r1, [%at], 1; bar.sync 0; ${store}`, []],
  [
    "what threads read that end instead of coming to the barrier",
    `setp.eq.u32 %p1, %r9, 0; @%p1 bra END; ${load(1)} bar.sync 0; ${store} bra.uni OUT;
     END: ld.shared.u32 %r1, [%before]; st.global.u32 [%x], %r1; OUT:`,
    [0],
  ],
  [
    "the first thread alone accesses a word",
    `setp.ne.u32 %p1, %t, 0; @%p1 bra SKIP; ld.shared.u32 %r1, [s]; SKIP: bar.sync 0; ${store}`,
    [0],
  ],
  [
    "the last thread alone accesses a word",
    `setp.ne.u32 %p1, %t, 127; @%p1 bra SKIP; ld.shared.u32 %r1, [s]; SKIP: bar.sync 0; ${store}`,
    [],
  ],
  [
    "what follows may fail for threads that do not come there",
    `bar.sync 0; setp.gt.u32 %p1, %t, 100; @%p1 bra SKIP; st.shared.u32 [%at+80], %r1; SKIP:`,
    [0],
  ],
  ["a barrier that counts", `${load(1)} bar.sync 0, 128; ${store}`, []],
] as const)("%s", (_, body, needless) => {
  expect(needlessIn(body)).toEqual(needless);
});

test("in a loop the barrier between reading and writing is needless, the other is not", () => {
  const body = `mov.u32 %r3, 0;
    LOOP: ${load(1)} bar.sync 0; ${store} bar.sync 0;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r9; @%p1 bra LOOP;`;
  expect(needlessIn(body)).toEqual([0]);
});

test("threads of other rows have the same numbers in x", () => {
  expect(needlessIn(`${load(1)} bar.sync 0; ${store}`, [64, 2, 1])).toEqual([]);
});

test("what one barrier after the other leaves out counts as one", () => {
  // Each by itself would do: but the first store comes before the last load of later threads.
  const body = `${load(1)} bar.sync 0; ${store} bar.sync 0; ${load(1)}`;
  expect(needlessIn(body)).toEqual([0]);
});
