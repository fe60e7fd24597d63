import type { DeviceFacts, DeviceGraphs } from "../../machine/state/device-work.ts";
import type { Report } from "../../machine/reports/report.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { isFault } from "../../runtime/launch/faults.ts";
import type { KernelResult, LaunchOptions } from "../../runtime/launch/launch-options.ts";
import { CudaError, errors, fail, ownError, require } from "../base/errors.ts";
import type { DeviceKernel, DeviceModule } from "../state/device-module.ts";
import { attributeOf, defaultLimits } from "../state/device-properties.ts";
import type { CudaDevice } from "../state/cuda-device.ts";
import { capabilityOf, type Gpu } from "../state/gpu.ts";

/** Three sizes. */
export type Sizes = readonly [x: number, y: number, z: number];

/** A launch of a kernel, with its arguments as bytes. */
export interface LaunchSpec {
  readonly kernel: DeviceKernel;
  readonly grid: Sizes;
  readonly block: Sizes;
  readonly shared: number;
  readonly cluster: Sizes | null;
  readonly isCooperative: boolean;
  readonly params: Uint8Array;
  /** Return addresses of the program at the launch; none unless calls are checked. */
  readonly launchedAt?: readonly bigint[];
}

const product = ([x, y, z]: Sizes): number => x * y * z;

/** Throws the error with which a launch is refused. `multiprocessors`: those on which it may run. */
export function checkLaunch(
  { kernel, grid, block, shared, cluster, isCooperative }: LaunchSpec,
  device: CudaDevice,
  multiprocessors = device.process.gpu.multiprocessors,
): void {
  const { gpu } = device.process;
  const fits = (sizes: Sizes, most: Sizes): boolean => sizes.every((n, i) => n >= 1 && n <= most[i]!);
  const of = ` of \`${kernel.kernel.signature}\``;
  const blockIs = (why: string) => () => `a block${of} of (${block.join(", ")}) threads: ${why}`;
  const { invalidConfiguration, invalidValue } = errors;
  require(fits(block, [1024, 1024, 64]) && product(block) <= 1024, invalidConfiguration, blockIs(
    "from 1 to 1024 are possible",
  ));
  require(fits(grid, [0x7fff_ffff, 65_535, 65_535]), invalidConfiguration, () =>
    `a grid${of} of (${grid.join(", ")}) blocks`);
  require(product(block) <= kernel.maxThreads, invalidValue, blockIs(`it has at most ${kernel.maxThreads}`));
  require(shared <= kernel.maxDynamicShared, invalidValue, () =>
    `${shared} bytes of dynamic shared memory${of}: it may have ${kernel.maxDynamicShared}`);
  const { reqntid, reqnctapercluster, explicitcluster } = kernel.kernel.ir.bounds;
  if (reqntid) require(reqntid.every((n, i) => n === block[i]), errors.invalidConfiguration);
  const blocks = cluster ?? reqnctapercluster ?? null;
  if (explicitcluster && blocks === null) fail(errors.invalidClusterSize);
  if (blocks !== null) {
    require(capabilityOf(gpu) >= 90, errors.notSupported);
    require(blocks.every((n, i) => n >= 1 && grid[i]! % n === 0), errors.invalidClusterSize);
    require(product(blocks) <= (kernel.hints.get(14) ? 16 : 8), errors.invalidClusterSize);
    if (reqnctapercluster) require(reqnctapercluster.every((n, i) => n === blocks[i]), errors.invalidClusterSize);
  }
  if (isCooperative) {
    const most = residentBlocks(kernel, device, product(block), shared) * multiprocessors;
    require(product(grid) <= most, errors.cooperativeLaunchTooLarge);
  }
}

/** The blocks of a kernel that fit onto one multiprocessor. */
export function residentBlocks(kernel: DeviceKernel, device: CudaDevice, threads: number, shared: number): number {
  const { gpu } = device.process;
  if (threads < 1 || threads > kernel.maxThreads || shared > kernel.maxDynamicShared) return 0;
  const warps = Math.ceil(threads / 32);
  const registers = Math.ceil((registersPerThread * 32) / 256) * 256 * warps;
  const bytes = kernel.staticShared + shared + gpu.sharedReserved;
  return Math.min(
    gpu.blocksPerMultiprocessor,
    Math.floor(gpu.threadsPerMultiprocessor / (32 * warps)),
    Math.floor(65_536 / registers),
    bytes === 0 ? Infinity : Math.floor(gpu.sharedPerMultiprocessor / (Math.ceil(bytes / 128) * 128)),
  );
}

/**
 * Registers of a thread. PTX has as many as it wants, and what an assembler would make of them is not known: kernels
 * are taken to need so few, 65,536 for 2,048 threads, that they do not limit how many blocks fit: so it is with most
 * small kernels.
 */
export const registersPerThread = 32;

/** Runs a launch to its end, in this thread or apart from it. `graphs`: what a node of a graph may do with graphs. */
export function runLaunch(spec: LaunchSpec, device: CudaDevice, graphs?: DeviceGraphs): void | Promise<void> {
  const { process } = device;
  if (process.error !== 0) return;
  const { kernel } = spec.kernel;
  const options = optionsOf(spec, device, graphs);
  try {
    const key = `${spec.block.join()} ${spec.shared} ${spec.cluster?.join() ?? ""}`;
    const isApart = process.machine.memory.pending.areOpen || spec.kernel.mayWait(key, () => kernel.mayWait(options));
    if (!isApart) return ended(spec, kernel.launch(options), device);
    return kernel.launchAsync({ ...options, stream: process.machine.stream() }).then(
      (result) => ended(spec, result, device),
      (error: unknown) => failed(error, device),
    );
  } catch (error) {
    return failed(error, device);
  }
}

/**
 * The options of a launch. Each by its name, whether it is there or not: to copy those of the process takes longer than
 * a small kernel.
 */
function optionsOf(spec: LaunchSpec, device: CudaDevice, graphs: DeviceGraphs | undefined): LaunchOptions {
  const { recorder, launchSettings: settings } = device.process;
  const { kernel, parameters } = spec.kernel;
  const facts = factsFor(device, spec.kernel.module);
  const onBegin: LaunchOptions["onBegin"] = (request) =>
    recorder?.launch(kernel.module, request, device.process.describeStack(spec.launchedAt ?? []));
  const options: { readonly [K in keyof Required<LaunchOptions>]: LaunchOptions[K] | undefined } = {
    grid: spec.grid,
    block: spec.block,
    shared: spec.shared,
    cluster: spec.cluster ?? undefined,
    args: parameters.map(({ at, bytes }) => spec.params.subarray(at, at + bytes)),
    environment: spec.isCooperative ? workspaceFor(device) : undefined,
    deviceFacts: facts,
    // A kernel may ask for its graph without calling anything.
    deviceGraphs: facts === undefined && graphs?.current === 0 ? undefined : graphs,
    onBegin: recorder === null ? undefined : onBegin,
    engine: settings.engine,
    hostThreads: settings.hostThreads,
    hostClock: settings.hostClock,
    matrix: settings.matrix,
    onOutput: settings.onOutput,
    sanitize: settings.sanitize,
    observers: settings.observers,
    onReport: settings.onReport,
    onProgress: settings.onProgress,
    blocks: settings.blocks,
    global: undefined,
    local: undefined,
    seed: settings.seed,
    steering: settings.steering,
    maxSteps: settings.maxSteps,
    timeoutMs: settings.timeoutMs,
  };
  return options as LaunchOptions;
}

const factsOf = new WeakMap<DeviceModule, DeviceFacts | null>();

/** What kernels of a module may ask of their device, if they call the device's runtime at all. */
function factsFor(device: CudaDevice, module: DeviceModule): DeviceFacts | undefined {
  let known = factsOf.get(module);
  if (known === undefined) {
    const { gpu } = device.process;
    known = !module.module.handsOverWork
      ? null
      : {
          attribute: (id) => attributeOf(gpu, device.number, id),
          limit: (id) => device.limits.get(id) ?? defaultLimits.get(id) ?? null,
          functionAttributes: (name) => functionAttributes(module.kernel(name), gpu),
          residentBlocks: (name, threads, shared) => residentBlocks(module.kernel(name), device, threads, shared),
        };
    factsOf.set(module, known);
  }
  return known ?? undefined;
}

/** A cudaFuncAttributes. */
export function functionAttributes(kernel: DeviceKernel, gpu: Gpu): Uint8Array {
  const view = new DataView(new ArrayBuffer(144));
  [kernel.staticShared, kernel.constantBytes, kernel.localBytes].forEach((bytes, i) => {
    view.setBigUint64(8 * i, BigInt(bytes), true);
  });
  // What is said of clusters follows in other order than the numbers: that which may be larger comes last.
  const hints = [9, 10, 11, 12, 13, 15, 14].map((attribute) => kernel.hintOr(attribute));
  const { architecture } = kernel.module;
  const cacheMode = 0;
  const sizes = [kernel.maxThreads, registersPerThread, architecture, capabilityOf(gpu), cacheMode];
  [...sizes, kernel.maxDynamicShared, ...hints].forEach((value, i) => {
    view.setInt32(24 + 4 * i, value, true);
  });
  return new Uint8Array(view.buffer);
}

/** The two halves of the address at which the blocks of a cooperative launch count each other: a size, a counter. */
function workspaceFor(device: CudaDevice): readonly [number, number] {
  const address = device.cooperativeWorkspace;
  return [Number(address >> 32n), Number(BigInt.asUintN(32, address))];
}

function failed(error: unknown, device: CudaDevice): void {
  const isKnown = error instanceof UsageError || error instanceof CudaError;
  device.process.warn(isKnown ? error.message : ownError(error));
  device.process.break(errors.launchFailure);
}

function ended({ kernel, grid, block, launchedAt = [] }: LaunchSpec, result: KernelResult, device: CudaDevice): void {
  const { process } = device;
  process.noteLaunch({ kernel: kernel.kernel.signature, grid, block, result, launchedAt });
  if (result.ok) return;
  const fault = result.reports.findLast(isFault);
  if (fault !== undefined) process.break(errorOf(fault));
}

/** Faults by the error that a device gives for them; all others are unspecified. Findings of sanitizers end nothing. */
const codes: Readonly<Record<string, number>> = {
  "assertion-failed": errors.assert,
  "misaligned-access": errors.misalignedAddress,
  "global-out-of-bounds": errors.illegalAddress,
  "shared-out-of-bounds": errors.illegalAddress,
  "local-out-of-bounds": errors.illegalAddress,
  "const-out-of-bounds": errors.illegalAddress,
  "null-dereference": errors.illegalAddress,
  "use-after-free": errors.illegalAddress,
  "wrong-state-space": errors.illegalAddress,
  "indirect-call-bad-address": errors.invalidPc,
  "indirect-call-null": errors.invalidPc,
};

const errorOf = ({ code }: Report): number => codes[code] ?? errors.launchFailure;
