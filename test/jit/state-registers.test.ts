import { expect, test } from "vitest";
import { stateRegistersOf } from "../../src/jit/compile/plan/state-registers.ts";
import { Analysed, anyBlock } from "./analysis/analysed.ts";
import { expectSameResults } from "./both-engines.ts";

/*
 * Registers that lie in the state of their chunk, as barriers separate what is done to them. Each thread has several
 * numbers, and takes another one from its neighbour in every round.
 */

/** Numbers that are neither large nor small. */
const floats = (count: number): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: count }, (_, i) => Math.sin(i * i)).buffer);

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** What threads do in a round: a number moves from thread to thread, and each of a thread's own to the one before. */
const round = (count: number, skips: string): string => `
st.shared.f32 [%own], %v0;
bar.sync 0;
ld.shared.f32 %v${count}, [%own+4];
bar.sync 0;
${skips}
${numbers(count)
  .map((i) => `fma.rn.f32 %v${i}, %v${i + 1}, 0f3F000000, %v${i};`)
  .join("\n")}
skip:
add.u32 %round, %round, 1;
setp.lt.u32 %p1, %round, 5;
@%p1 bra again;`;

const kernel = (count: number, skips: string): string => `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 s[4096];
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .f32 %v<${count + 1}>; .reg .b32 %t, %own, %round, %n, %at, %rest; .reg .b64 %in, %out, %d; .reg .pred %p<4>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mov.u32 %own, s; shl.b32 %n, %t, 2; add.u32 %own, %own, %n;
mov.u32 %n, %ntid.x; mov.u32 %at, %ctaid.x; mad.lo.u32 %at, %at, %n, %t;
mul.wide.u32 %d, %at, ${4 * count}; add.u64 %in, %in, %d; add.u64 %out, %out, %d;
${numbers(count)
  .map((i) => `ld.global.f32 %v${i}, [%in+${4 * i}];`)
  .join("\n")}
mov.u32 %round, 0;
again:
${round(count, skips)}
${numbers(count)
  .map((i) => `st.global.f32 [%out+${4 * i}], %v${i};`)
  .join("\n")}
ret;
}`;

const perThread = "and.b32 %rest, %t, 3; setp.lt.u32 %p2, %rest, %round; @%p2 bra skip;";
const perChunk = "setp.lt.u32 %p2, %t, 40; @%p2 bra skip;";

test.each([
  ["all threads do the same", "", 64],
  ["some threads of each chunk", perThread, 64],
  ["some chunks", perChunk, 128],
  ["chunks that are not full", perThread, 75],
] as const)("%s", (_, skips, block) => {
  for (const count of [6, 18]) {
    const values = count * block * 3;
    const buffers = [floats(values), new Uint8Array(4 * values)];
    expectSameResults({ text: kernel(count, skips), buffers, launch: { grid: 3, block } });
  }
});

/** The registers of a kernel with so many numbers in registers from %f0 on. */
function found(count: number, before: string, quads: number): readonly string[] {
  const { analysis, pauses } = new Analysed(
    `mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; mul.f32 %f0, %f0, %f0;
${numbers(count)
  .slice(1)
  .map((i) => `mul.f32 %f${i}, %f${i - 1}, %f0;`)
  .join("\n")}
again:
${before}
bar.sync 0;
${numbers(count)
  .map((i) => `fma.rn.f32 %f${i}, %f${(i + 1) % count}, 0f3F000000, %f${i};`)
  .join("\n")}
add.u32 %r9, %r9, 1;
setp.lt.u32 %p1, %r9, 5;
@%p1 bra again;
ret;`,
    anyBlock,
  );
  return stateRegistersOf(analysis, pauses, quads).map((r) => analysis.code.ir.registers[r]!.name);
}

test("there are more than the machine has", () => {
  // The first is read too often where the others are computed.
  expect(found(8, "", 2)).toEqual(["%f1", "%f2", "%f3", "%f4", "%f5", "%f6", "%f7"]);
  expect(found(8, "", 1)).toEqual([]);
});

test("those of a loop without barriers are not among them", () => {
  const loop = `mov.u32 %r8, 0;
inner:
add.f32 %f3, %f3, %f4;
add.u32 %r8, %r8, 1;
setp.lt.u32 %p2, %r8, 3;
@%p2 bra inner;`;
  expect(found(8, loop, 2)).toEqual(["%f1", "%f2", "%f5", "%f6", "%f7"]);
});
