import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { KnownCompiler } from "../../src/node/native/known-compiler.ts";
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

const folder = mkdtempSync(join(tmpdir(), "lanewise-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(whyNoMachineCode() !== null)("a store remembers the compiler as long as its files are the same", () => {
  const kept = new Map<string, Uint8Array>();
  const store: KernelStore = {
    read: (key) => kept.get(key) ?? null,
    write: (key, entry) => void kept.set(key, entry),
    remove: (key) => void kept.delete(key),
  };
  const [cc, log] = [join(folder, "logged-cc"), join(folder, "log")];
  const write = (more: string): void => {
    writeFileSync(cc, `#!/bin/sh\necho asked >> ${log}\n${more}exec cc "$@"\n`, { mode: 0o755 });
  };
  write("");
  const open = (): KnownCompiler => new KnownCompiler(store, { ...process.env, CC: cc });
  expect(open().identity).toBeNull();
  const { found } = open();
  if (typeof found === "string") throw new Error(found);
  expect(open().identity).toBe(found.identity);
  expect(readFileSync(log, "utf8")).toBe("asked\n");
  write("# Another version.\n");
  expect(open().identity).toBeNull();
});
