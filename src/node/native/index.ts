import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCompiler } from "../../jit/abi/native-code.ts";
import { addonFile } from "../exec/native.ts";
import { HostCompiler } from "./host-compiler.ts";
import { defaultSeconds, openCompilerBeside } from "./open-compiler-beside.ts";

/**
 * Makes machine code of compiled kernels with the machine's C compiler (`CC`, or cc, gcc, clang), for the engines
 * "native" and "tiered":
 *
 *     const device = new Device({ nativeCompiler: openNativeCompiler() });
 *
 * `store` keeps what has been made for other processes, as `openKernelFolder` does. `seconds` of processor time is
 * what the C compiler may take for a kernel, 30 by default: kernels that take it longer, and those for which there is
 * no machine code, run as compiled code, and the results of their launches say why (`KernelResult.notNative`). With
 * `beside` the C compiler works in a process of its own, of low priority, which ends with this one; until it is done,
 * kernels run as compiled code.
 *
 * Returns null where there is no machine code at all: it needs Linux on x86-64. The compiler is looked for when the
 * first kernel is compiled.
 */
export function openNativeCompiler(
  options: { readonly store?: KernelStore | null; readonly seconds?: number; readonly beside?: boolean } = {},
): NativeCompiler | null {
  const { store = null, seconds = defaultSeconds, beside = false } = options;
  if (beside) return openCompilerBeside(store, seconds);
  const addon = addonFile();
  return addon === null ? null : new HostCompiler(addon, store, seconds);
}
