import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { addonFile } from "../../src/node/exec/native.ts";
import { HostCompiler } from "../../src/node/native/host-compiler.ts";

/** Why there is no machine code here, or null: tests of it are skipped then. */
export function whyNoMachineCode(): string | null {
  if (addonFile() === null) return "the add-on is not built";
  const compiler = CCompiler.find();
  return typeof compiler === "string" ? compiler : null;
}

/** The registers of machines: as wide as this one's, and those without AVX-512. */
export const widths = ["", "-mno-avx512f"] as const;

/** What makes machine code, as long as a slow machine needs. `width`: one of `widths`. */
export function compilerForTests(width = ""): HostCompiler {
  const env = { ...process.env, CC: `${process.env["CC"] ?? "cc"} ${width}` };
  return new HostCompiler(addonFile()!, null, 300, env);
}
