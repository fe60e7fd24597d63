import { rmdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { temporaryFolder } from "../../src/node/temporary-folder.ts";
import { UsageError } from "../../src/runtime/data/errors.ts";
import { whyNoMachineCode } from "../cc/native.ts";

afterEach(() => vi.unstubAllEnvs());

/** A file is where the folder for temporary files should be. */
const noFolder = (): unknown => vi.stubEnv("TMPDIR", fileURLToPath(import.meta.url));

test("a temporary folder is new and empty", () => {
  const folders = [temporaryFolder("lanewise-test-"), temporaryFolder("lanewise-test-")];
  expect(new Set(folders).size).toBe(2);
  for (const folder of folders) rmdirSync(folder);
});

test("where there can be none, the error says what to set", () => {
  noFolder();
  expect(() => temporaryFolder("lanewise-test-")).toThrow(UsageError);
  expect(() => temporaryFolder("lanewise-test-")).toThrow(/temporary-folder\.test\.ts \(ENOTDIR\): set TMPDIR/);
});

test.skipIf(whyNoMachineCode() !== null)("the C compiler then gives that as the reason", async () => {
  const compiler = CCompiler.find() as CCompiler;
  noFolder();
  const why = expect.stringMatching(/^no folder for temporary files/);
  expect(compiler.library("", 10)).toEqual(why);
  expect(await compiler.libraryLater("", 10, new AbortController().signal)).toEqual(why);
});
