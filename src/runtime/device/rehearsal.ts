import type { IrFunction, IrModule } from "../../ir/index.ts";
import { IdleKernels } from "../../jit/run/idle-kernels.ts";
import type { PreparedKernel } from "../../jit/run/program-kernels.ts";
import { DeviceMemory } from "../../machine/memory/memory.ts";
import { withoutNumber } from "../../program/open-launch.ts";
import { loadProgram } from "../../program/program.ts";
import { Buffer } from "../data/buffer.ts";
import { planPtx } from "../launch/ptx-plan.ts";
import { Engines } from "./engines.ts";

let isDone = false;

/**
 * Repeats the launch for which a kernel has been prepared, on a device of its own and with code that does nothing. V8
 * compiles a function when it is first called, and compiling those of a launch takes two milliseconds, which the first
 * launch of a program then is free of. Once in a process: all kernels are launched by the same functions.
 */
export function rehearse(ir: IrModule, kernel: IrFunction, { noted, compiled }: PreparedKernel): void {
  if (isDone) return;
  isDone = true;
  const { addressSize } = ir;
  const memory = new DeviceMemory();
  const program = loadProgram(memory, { ...ir, functions: [kernel], variables: [] });
  const engines = new Engines(program, () => new IdleKernels(compiled), null);
  const buffer = new Buffer(memory, "u8", 1);
  const args = kernel.params.map(({ type: { size } }) => (size * 8 === addressSize ? buffer : new Uint8Array(size)));
  const { grid, asked: block, sharedBytes: shared } = noted;
  const settings = { engine: "jit", hostThreads: 1 } as const;
  try {
    const plan = () => planPtx(kernel, { grid, block, shared }, args, { memory, addressSize });
    withoutNumber(() => engines.runPlain(kernel.name, plan, settings));
  } catch {
    // Such a launch is not possible any more, which the kernel's own will tell.
  }
}
