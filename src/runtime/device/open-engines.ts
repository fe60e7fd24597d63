import type { NativeCompiler } from "../../jit/abi/native-code.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { Program } from "../../program/program.ts";
import { Engines } from "./engines.ts";

/**
 * The engines of a program. `cache` returns the cache of compiled kernels, and is called when a kernel is compiled;
 * `native` makes machine code of them.
 */
export const enginesFor = (program: Program, cache: () => KernelCache | null, native: NativeCompiler | null): Engines =>
  new Engines(program, cache, native);
