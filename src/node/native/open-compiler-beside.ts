import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import { addonFile } from "../exec/native.ts";
import { CompilerBeside } from "./compiler-beside.ts";

/** Seconds that the C compiler may take for a kernel, unless a program says otherwise. */
export const defaultSeconds = 30;

/**
 * What makes machine code beside the calling program; null where there is none. It is little to load: the translator is
 * in the other process.
 */
export function openCompilerBeside(store: KernelStore | null, seconds = defaultSeconds): CompilerBeside | null {
  const addon = addonFile();
  if (addon === null) return null;
  const script = join(dirname(addon), "beside.mjs");
  return existsSync(script) ? new CompilerBeside(addon, script, store, seconds) : null;
}
