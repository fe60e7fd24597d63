/**
 * What only Node can do: a folder in which compiled kernels are kept for other processes, and machine code of kernels.
 *
 * @module lanewise/node
 */
export type { KernelStore } from "../jit/abi/kernel-store.ts";
export type { NativeCode, NativeCompiler, RunBlocks } from "../jit/abi/native-code.ts";
export { openKernelFolder } from "./open-kernel-folder.ts";
export type { HostFunction } from "../jit/abi/host-function.ts";
export { cacheFolder } from "./cache-folder.ts";
export { openNativeCompiler } from "./native/index.ts";
