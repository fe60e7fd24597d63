import { expect, test } from "vitest";
import { loadProgram } from "../../src/program/program.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { Device } from "../../src/index.ts";
import { noFeatures } from "../../src/wasm/index.ts";

// What compiling takes, but counted, not measured: bytes of code for kernels of one kind.

const path = "../../bench/compile-kinds.mjs";
const { kinds } = (await import(path)) as { kinds: Readonly<Record<string, (instructions: number) => string>> };

function codeBytes(text: string): number {
  const { module } = compile([new SourceText("k.ptx", text)]);
  const program = new JitProgram(loadProgram(new PtxDevice().memory, module!), 2);
  const compiled = program.compiled("k", [64, 1, 1], noFeatures);
  if (typeof compiled === "string") throw new Error(compiled);
  return compiled.bytes.length;
}

test.each(Object.entries(kinds))("code grows with a kernel of %s, and no faster", (_, make) => {
  const [small, large] = [1200, 2400].map((n) => codeBytes(make(n))) as [number, number];
  // Numbers of locals, places and sites take more bytes when they are larger.
  expect(large / small).toBeLessThan(2.15);
  expect(large / 2400).toBeLessThan(150);
});

/** Lane l takes the value of lane `(l ^ 1) + 4 & 31`, which code could only compute as it can any other number. */
const shuffles = (count: number): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %laneid;
    and.b32 %r1, %r1, 31;
    xor.b32 %r2, %r1, 1;
    add.u32 %r2, %r2, 4;
    and.b32 %r2, %r2, 31;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    ld.global.u32 %r3, [%d1];
${"    shfl.sync.idx.b32 %r3, %r3, %r2, 31, -1;\n    add.u32 %r3, %r3, %r1;\n".repeat(count)}
    st.global.u32 [%d1], %r3;
    ret;
}`;

test("shuffles whose lanes are known move vectors", () => {
  const [few, many] = [10, 20].map((n) => codeBytes(shuffles(n))) as [number, number];
  // Eight vectors, each from one other. Computed, and moved lane by lane, it is 3184 bytes.
  expect((many - few) / 10).toBeLessThan(500);
});

test("shuffles whose lanes are known give what they should", () => {
  const device = new Device();
  const out = device.buffer(Uint32Array.from({ length: 32 }, (_, lane) => lane * lane));
  const result = device
    .load(shuffles(2))
    .kernel("k")
    .launch({ grid: 1, block: 32, args: [out] });
  const next = (x: readonly number[]): number[] => x.map((_, lane) => x[((lane ^ 1) + 4) & 31]! + lane);
  const first = Array.from({ length: 32 }, (_, lane) => lane * lane);
  expect([result.engine, [...out.read()]]).toEqual(["jit", next(next(first))]);
});
