export type { KernelArgument, LocalMemory, Scalar, Struct } from "./data/argument.ts";
export { local, scalar, struct } from "./data/argument.ts";
export { Buffer, type Pointer } from "./data/buffer.ts";
export type { KernelStore } from "../jit/abi/kernel-store.ts";
export { checkLinked, checkSource, compile, type CompileOptions, linkToText } from "./device/compile.ts";
export { Device, type DeviceOptions } from "./device/device.ts";
export type { LoadOptions } from "./device/load-options.ts";
export { type ElementType, elementTypes, type TypedArray, type TypedArrays } from "./data/element.ts";
export {
  type Explored,
  type ExploreOptions,
  explore,
  type FoundDifference,
  type ScheduleChoice,
} from "./explore/explore.ts";
export { LoadError, NotExecutableError, NumpyError, UsageError } from "./data/errors.ts";
export type { Isa } from "./data/isa.ts";
export { type Job, parseJob } from "./job/job.ts";
export type { LaunchSize, Size } from "./launch/launch-plan.ts";
export {
  type AsyncLaunchOptions,
  type KernelResult,
  type LaunchDefaults,
  type LaunchOptions,
  sanitizerNames,
} from "./launch/launch-options.ts";
export { Kernel, Module } from "./device/module.ts";
export { type NumpyArray, readNumpy, writeNumpy } from "./data/npy.ts";
export { type CheckResult, type JobFiles, type JobOptions, type JobResult, runJob } from "./job/run-job.ts";
export { parseSchedule, ScriptedSteering } from "./explore/schedule-script.ts";
export type { SourceFile } from "./data/source-file.ts";
export {
  type BuildOptions,
  buildKernel,
  type KernelDescription,
  NotStandaloneError,
  type StandaloneKernel,
} from "./standalone/standalone.ts";
export type { Stream } from "./launch/stream.ts";
export type { KernelInput } from "./visa/handwritten-payload.ts";
