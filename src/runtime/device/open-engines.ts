import type { NativeCompiler } from "../../jit/abi/native-code.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { IrFunction, IrModule } from "../../ir/index.ts";
import type { Program } from "../../program/program.ts";
import type { UnwatchedSettings } from "../launch/plain-launch.ts";
import { Engines } from "./engines.ts";
import { type OpenAlone, rehearse } from "./rehearsal.ts";

/**
 * The engines of a program. `cache` returns the cache of compiled kernels, and is called when a kernel is compiled;
 * `native` makes machine code of them.
 */
export const enginesFor = (program: Program, cache: () => KernelCache | null, native: NativeCompiler | null): Engines =>
  new Engines(program, cache, native);

/** A kernel of a program, and the program. */
interface OwnKernel {
  readonly ir: IrModule;
  readonly kernel: IrFunction;
}

/** Loads what the first launch of a kernel has needed in an earlier process, and rehearses such a launch. */
export function prepareKernel(
  engines: Engines,
  { ir, kernel }: OwnKernel,
  settings: UnwatchedSettings,
  open: OpenAlone,
): void {
  const prepared = engines.prepare(kernel.name, settings);
  // The arguments of vISA are its own.
  if (prepared !== null && kernel.file === undefined) rehearse(ir, kernel, prepared, open);
}
