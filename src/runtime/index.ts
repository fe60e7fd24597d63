export type { KernelArgument, LocalMemory, Scalar, Struct } from "./argument.ts";
export { local, scalar, struct } from "./argument.ts";
export { Buffer, type Pointer } from "./buffer.ts";
export type { KernelStore } from "../jit/kernel-store.ts";
export { checkLinked, checkSource, compile, type CompileOptions, linkToText } from "./compile.ts";
export { Device, type DeviceOptions, type LoadOptions } from "./device.ts";
export { type ElementType, elementTypes, type TypedArray, type TypedArrays } from "./element.ts";
export { type Explored, type ExploreOptions, explore, type FoundDifference, type ScheduleChoice } from "./explore.ts";
export { LoadError, NotExecutableError, NumpyError, UsageError } from "./errors.ts";
export type { Isa } from "./isa.ts";
export { type Job, parseJob } from "./job.ts";
export type { LaunchSize, Size } from "./launch-plan.ts";
export {
  type AsyncLaunchOptions,
  Kernel,
  type KernelResult,
  type LaunchDefaults,
  type LaunchOptions,
  Module,
  sanitizerNames,
} from "./module.ts";
export { type NumpyArray, readNumpy, writeNumpy } from "./npy.ts";
export { type CheckResult, type JobFiles, type JobOptions, type JobResult, runJob } from "./run-job.ts";
export { parseSchedule, ScriptedSteering } from "./schedule-script.ts";
export type { SourceFile } from "./source-file.ts";
export {
  type BuildOptions,
  buildKernel,
  type KernelDescription,
  NotStandaloneError,
  type StandaloneKernel,
} from "./standalone.ts";
export type { Stream } from "./stream.ts";
export type { KernelInput } from "./visa/handwritten-payload.ts";
