import type { HostPages } from "../../machine/memory/host-pages.ts";
import type { HostFunction } from "./host-function.ts";

/** Runs blocks of a kernel: what its module exports as `run`. */
export type RunBlocks = (context: number, from: number, to: number) => number;

/** Machine code of a kernel's module, which has been loaded into the process: all of its threads can run it. */
export interface NativeCode {
  /** The file of the add-on that calls it. */
  readonly addon: string;
  /** Its address. */
  readonly entry: number;
  /** The functions that it asks of its host, in its own order. */
  readonly imports: readonly string[];
}

/**
 * Makes machine code of modules, where the host has what that takes. The code does what the module does, bit for bit.
 */
export interface NativeCompiler {
  /**
   * Returns a text if there is no machine code for a module: why; null if it is being made, beside the calling program,
   * which may ask again. Never throws. `imports`: the functions that the module asks of its host, in its own order.
   */
  compile(module: Uint8Array, imports: readonly string[]): NativeCode | string | null;
  /**
   * Returns the machine code of a module that an earlier process has left, at once; a text if that was found to be of
   * no use: why; null if there is none. Never throws.
   */
  kept?(module: Uint8Array, imports: readonly string[]): NativeCode | string | null;
  /** Notes, also for later processes, why the machine code of a module is of no use. Never throws. */
  giveUp?(module: Uint8Array, why: string): void;
  /** The code with the memory and the functions of a device, in the calling thread. */
  instance(
    code: NativeCode,
    memory: { readonly buffer: ArrayBufferLike },
    functions: Readonly<Record<string, HostFunction>>,
  ): RunBlocks;
  /** The pages in which its devices keep their memory; null or missing: those that the host chooses. @internal */
  readonly hostPages?: HostPages | null;
}
