import { expect, test } from "vitest";
import { loadProgram } from "../../src/program/program.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
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
