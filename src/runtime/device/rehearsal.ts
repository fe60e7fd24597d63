import type { IrFunction, IrModule } from "../../ir/index.ts";
import { IdleKernels } from "../../jit/run/idle-kernels.ts";
import type { KernelCache } from "../../jit/run/kernel-cache.ts";
import type { PreparedKernel } from "../../jit/run/program-kernels.ts";
import { withoutNumber } from "../../program/open-launch.ts";
import { type KernelArgument, scalar } from "../data/argument.ts";
import type { LaunchOptions } from "../launch/launch-options.ts";
import type { DeviceCore } from "./device-core.ts";

/** A program on a device of its own. */
interface LoadedAlone {
  readonly device: DeviceCore;
  find(kernel: string): { launch(options: LaunchOptions): unknown; launchPlain(options: LaunchOptions): unknown };
}

/** Loads a program so, with a cache of compiled kernels. */
export type OpenAlone = (ir: IrModule, cache: KernelCache) => LoadedAlone;

const asBytes = (size: number): KernelArgument => new Uint8Array(size);
const asNumber = (size: number): KernelArgument => (isElement(size) ? 0 : asBytes(size));
const asScalar = (size: number): KernelArgument => (isElement(size) ? scalar("u32", 0) : asBytes(size));
const isElement = (size: number): boolean => size === 4;

let isDone = false;

/**
 * Repeats the launch for which a kernel has been prepared, on a device of its own and with code that does nothing. V8
 * compiles a function when it is first called, and compiling those of a launch takes two milliseconds, which the first
 * launch of a program then is free of. Once in a process: all kernels are launched by the same functions.
 */
export function rehearse(ir: IrModule, kernel: IrFunction, prepared: PreparedKernel, open: OpenAlone): void {
  if (isDone) return;
  isDone = true;
  const isAddress = (size: number): boolean => 8 * size === ir.addressSize;
  const { grid, asked: block, sharedBytes: shared } = prepared.noted;
  try {
    const module = open({ ...ir, functions: [kernel], variables: [] }, new IdleKernels(prepared));
    const buffer = module.device.buffer("u8", 1);
    const found = module.find(kernel.name);
    // A launch that is expected to be long goes other ways than those after it, and each kind of argument its own.
    for (const value of [asBytes, asNumber, asScalar]) {
      const args = kernel.params.map(({ type: { size } }) => (isAddress(size) ? buffer : value(size)));
      // Never by the interpreter, which would run the kernel's own code: what has been launched plainly is so again.
      const isPlain = value !== asScalar;
      const options = { grid, block, shared, args };
      if (withoutNumber(() => (isPlain ? found.launchPlain(options) : found.launch(options))) === null) return;
    }
  } catch {
    // What cannot be launched so, or not any more, is compiled when its own launch needs it.
  }
}
