import { expect, test } from "vitest";
import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { whyNoMachineCode } from "./native.ts";

function compilerOf(cc: string): CCompiler {
  const compiler = CCompiler.find({ ...process.env, CC: cc });
  if (typeof compiler === "string") throw new Error(compiler);
  return compiler;
}

test.skipIf(whyNoMachineCode() !== null)("options in CC change those that kernels are compiled with", () => {
  expect(compilerOf("cc -mno-avx512f").target.quads).toBe(2);
  expect(CCompiler.find({ ...process.env, CC: "cc  -mno-avx2" })).toBe("the machine or its C compiler lacks __AVX2__");
  // Words before the first option are a command: `env` runs what follows it.
  expect(compilerOf("env cc -O1").identity).not.toBe(compilerOf("env cc -mno-avx512f").identity);
  expect(compilerOf("cc -O1").identity).not.toBe(compilerOf("cc").identity);
});
