export type { KernelArgument, LocalMemory, Scalar, Struct } from "./data/argument.ts";
export { local, scalar, struct } from "./data/argument.ts";
export { Buffer, type Pointer } from "./data/buffer.ts";
export {
  type AddressMode,
  type ChannelType,
  type DepthCompare,
  type FilterMode,
  Image,
  ImageHandle,
  type ImageOptions,
  type SamplerOptions,
  type TextureOptions,
} from "./data/image.ts";
export type { Im2colBox, Im2colWideBox, TensorMapOptions, TensorShape } from "./data/tensor-map.ts";
export type { HostFunction } from "../jit/abi/host-function.ts";
export type { KernelStore } from "../jit/abi/kernel-store.ts";
export type { NativeCode, NativeCompiler, RunBlocks } from "../jit/abi/native-code.ts";
export type { Contents, DeviceCore } from "./device/device-core.ts";
export {
  type CheckedSource,
  checkLinked,
  checkSource,
  compile,
  type CompileOptions,
  linkToText,
} from "./device/compile.ts";
export { Device, type DeviceOptions } from "./device/device.ts";
export type { PtxDevice } from "./device/ptx-device.ts";
export { type PtxText, ptxOf } from "./device/unpack.ts";
export type { LoadOptions } from "./device/load-options.ts";
export { type Elements, type ElementType, elementTypes, type TypedArray, type TypedArrays } from "./data/element.ts";
export {
  type Explored,
  type ExploreOptions,
  explore,
  type FoundDifference,
  type ScheduleChoice,
} from "./explore/explore.ts";
export { LoadError, NotExecutableError, NotStandaloneError, NumpyError, UsageError } from "./data/errors.ts";
export type { Isa } from "./data/isa.ts";
export type { Difference } from "./job/compare.ts";
export { type BufferSpec, type ExpectedReport, type Job, type LaunchSpec, parseJob } from "./job/job.ts";
export { jobSchema } from "./job/job-schema.ts";
export type { Schema } from "./job/schema-parts.ts";
export type { Init, LcgInit } from "./job/init.ts";
export type { ImageSpec, ObjectSpec } from "./job/job-image.ts";
export type { ArgumentSpec } from "./job/job-argument.ts";
export type { PointerPatch } from "./job/pointer-patch.ts";
export type { CopyEnd, CopySpec, SymbolSpec } from "./job/job-symbol.ts";
export type { Check, Comparison, Expected } from "./job/job-check.ts";
export { type JobLaunch, JobRun } from "./job/job-execution.ts";
export type { LaunchSummary } from "./job/job-result.ts";
export type { VisaJob, VisaVariant } from "./job/job-visa.ts";
export type { BlockSelection } from "./launch/block-selection.ts";
export type { LaunchSize, Size } from "./launch/launch-plan.ts";
export {
  type AsyncLaunchOptions,
  type EngineChoice,
  type EngineName,
  type EngineResult,
  type KernelResult,
  type LaunchDefaults,
  type LaunchOptions,
  type LaunchSettings,
  sanitizerNames,
} from "./launch/launch-options.ts";
export type { BegunLaunch } from "./device/begin-execution.ts";
export { Kernel, Module } from "./device/module.ts";
export { ModuleVariable } from "./data/module-variable.ts";
export { type NumpyArray, readNumpy, writeNumpy } from "./data/npy.ts";
export type { Picture } from "./data/picture.ts";
export { type CheckResult, type JobFiles, type JobOptions, type JobResult, runJob } from "./job/run-job.ts";
export {
  type Choice,
  type Interruption,
  parseSchedule,
  type Schedule,
  ScriptedSteering,
  type Turn,
} from "./explore/schedule-script.ts";
export type { SourceFile } from "./data/source-file.ts";
export {
  type BuildOptions,
  buildKernel,
  type KernelDescription,
  type Piece,
  type StandaloneKernel,
} from "./standalone/standalone.ts";
export type { StandaloneSite } from "./standalone/standalone-sites.ts";
export type { PlacedParameter, PlacedSize } from "./standalone/visa-build.ts";
export type { Stream } from "./launch/stream.ts";
export {
  type OpenClContents,
  type OpenClFile,
  type OpenClProgram,
  type SectionLinks,
  openClContents,
  openOpenCl,
} from "./visa/opencl-program.ts";
export type { KernelInput } from "./visa/handwritten-payload.ts";
