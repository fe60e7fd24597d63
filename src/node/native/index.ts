import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCompiler } from "../../jit/abi/native-code.ts";
import { addonFile } from "../exec/native.ts";
import { HostCompiler } from "./host-compiler.ts";

/** Seconds that the C compiler may take for a kernel, unless a program says otherwise. */
const defaultSeconds = 30;

/**
 * Makes machine code of compiled kernels with the machine's C compiler (`CC`, or cc, gcc, clang), for the engine
 * "native":
 *
 *     const device = new Device({ engine: "native", nativeCompiler: openNativeCompiler() });
 *
 * `store` keeps what has been made for other processes, as `openKernelFolder` does. `seconds` is what the C compiler
 * may take for a kernel, 30 by default: kernels that take it longer, and those for which there is no machine code,
 * run as compiled code, and the results of their launches say why (`KernelResult.notNative`).
 *
 * Returns null where there is no machine code at all: it needs Linux on x86-64. The compiler is looked for when the
 * first kernel is compiled.
 */
export function openNativeCompiler(
  options: { readonly store?: KernelStore | null; readonly seconds?: number } = {},
): NativeCompiler | null {
  const addon = addonFile();
  return addon === null ? null : new HostCompiler(addon, options.store ?? null, options.seconds ?? defaultSeconds);
}
