import { expect, test } from "vitest";
import { globalIndexUseOf, transposed } from "../../src/ir/flow/index.ts";
import { isBetterAlongY } from "../../src/jit/compile/analysis/access/lane-order.ts";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { SourceText } from "../../src/source/index.ts";

/** Threads (x, y) of a grid load word x * byX + y * byY and store it at the same place of another buffer. */
const kernel = (byX: number, byY: number): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{
.reg .b32 %r<8>, %x, %y, %at; .reg .b64 %a, %b, %c, %d;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %x, %r2, %r3, %r1;
mov.u32 %r4, %tid.y; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.y; mad.lo.s32 %y, %r5, %r6, %r4;
mul.lo.s32 %r0, %x, ${byX}; mad.lo.s32 %at, %y, ${byY}, %r0;
ld.param.u64 %a, [from]; mad.wide.s32 %c, %at, 4, %a; ld.global.u32 %r7, [%c];
ld.param.u64 %b, [to]; mad.wide.s32 %d, %at, 4, %b; st.global.u32 [%d], %r7;
ret;
}`;

test.each([
  ["rows of words", 1, 1024, false],
  ["columns of words", 1024, 1, true],
  ["columns of every second word", 2048, 2, true],
  ["every second word of a row", 2, 2048, false],
  ["columns of every fourth word", 4096, 4, false],
] as const)("lanes are better along y: %s", (_, byX, byY, isBetter) => {
  const { module } = compile([new SourceText("k.ptx", kernel(byX, byY))], {});
  const functions = new CompiledFunctions(loadProgram(new DeviceMemory(), module!));
  const { ir } = globalIndexUseOf(functions.named("k")!.ir)!;
  expect(isBetterAlongY(ir, transposed(ir))).toBe(isBetter);
});
