import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { addonFile } from "../../src/node/exec/native.ts";
import { HostCompiler } from "../../src/node/native/host-compiler.ts";

/** Why there is no machine code here, or null: tests of it are skipped then. */
export function whyNoMachineCode(): string | null {
  if (addonFile() === null) return "the add-on is not built";
  const compiler = CCompiler.find();
  return typeof compiler === "string" ? compiler : null;
}

/** What makes machine code, as long as a slow machine needs. */
export const compilerForTests = (): HostCompiler => new HostCompiler(addonFile()!, null, 300);
