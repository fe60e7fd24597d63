import { errors, fail, require } from "../../base/errors.ts";
import { itemKind } from "../../base/wire.ts";
import { residentBlocks, registersPerThread, type Sizes } from "../../run/kernel-launch.ts";
import { packedArguments, gather, kernelOf, launch, launchCalls, launchFrom } from "../launch.ts";
import type { DeviceKernel } from "../../state/device-module.ts";
import { capabilityOf } from "../../state/gpu.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { occupancyCalls } from "../occupancy.ts";
import { streamCalls } from "../streams.ts";
import { sameAs } from "./contexts.ts";
import { inContext, initialized } from "./driver-call.ts";

const sizesAt = (call: Call, i: number): Sizes => [call.uint(i), call.uint(i + 1), call.uint(i + 2)];

/** The arguments of a kernel: a list of their addresses, or `extra`, which names a buffer with all. */
function argumentsOf(
  call: Call,
  kernel: DeviceKernel,
  [list, extra]: readonly [list: bigint, extra: bigint],
): Uint8Array {
  if (extra === 0n) return gather(call, kernel, list);
  require(list === 0n);
  return packedArguments(call, kernel, extra);
}

/** function, grid (3 words), block (3 words), shared memory, stream, arguments, extra (not for cooperative launches) */
function launchKernel(call: Call, isCooperative: boolean): Status {
  const handle = call.address(0);
  const kernel = kernelOf(call, handle);
  const [list, extra] = [call.address(9), isCooperative ? 0n : call.address(10)];
  const params = argumentsOf(call, kernel, [list, extra]);
  const sizes = { grid: sizesAt(call, 1), block: sizesAt(call, 4), shared: call.uint(7), cluster: null };
  return launch(call, { kernel, ...sizes, isCooperative, params }, call.stream(8), handle);
}

/** CUlaunchConfig, function, arguments, extra */
function launchWithConfig(call: Call): Status {
  const kernel = kernelOf(call, call.address(1));
  const params = argumentsOf(call, kernel, [call.address(2), call.address(3)]);
  return launchFrom(call, { handle: call.address(1), config: call.target(0), params });
}

/** Attributes of functions by number: CUfunction_attribute. */
function attributeOf(call: Call, kernel: DeviceKernel, attribute: number): number {
  const capability = capabilityOf(call.process.gpu);
  const values: readonly (() => number)[] = [
    () => kernel.maxThreads,
    () => kernel.staticShared,
    () => kernel.constantBytes,
    () => kernel.localBytes,
    () => registersPerThread,
    () => Number(/\d+/.exec(kernel.module.module.ir.target)?.[0] ?? capability),
    () => capability,
    () => 0,
    () => kernel.maxDynamicShared,
  ];
  const value = values[attribute];
  if (value !== undefined) return value();
  require(attribute <= 15 && attribute >= 0);
  return kernel.hintOr(attribute);
}

/** value, attribute, function */
function getAttribute(call: Call): Status {
  const target = call.target(0);
  const kernel = kernelOf(call, call.address(2));
  call.set32(target, attributeOf(call, kernel, call.int(1)));
  return 0;
}

/** Sets an attribute of a kernel. */
function setAttribute(call: Call, handle: bigint, attribute: number, value: number): Status {
  const kernel = kernelOf(call, handle);
  require(attribute >= 8 && attribute <= 15);
  if (attribute !== 8) {
    kernel.hints.set(attribute, value);
    return 0;
  }
  require(value >= 0 && value + kernel.staticShared <= call.process.gpu.sharedOptIn);
  kernel.maxDynamicShared = value;
  call.item(itemKind.forget, handle);
  return 0;
}

/** least blocks, threads, function, function of the host for shared memory, shared memory, most threads */
function potentialBlock(call: Call): Status {
  const [blocksTarget, threadsTarget] = [call.target(0), call.target(1)];
  const kernel = kernelOf(call, call.address(2));
  // The function of the host cannot be called from here.
  if (call.address(3) !== 0n) fail(errors.notSupported);
  const limit = call.int(5);
  const most = limit > 0 ? Math.min(limit, kernel.maxThreads) : kernel.maxThreads;
  let [bestThreads, bestResidents] = [0, 0];
  for (let threads = Math.ceil(most / 32) * 32; threads > 0; threads -= 32) {
    const size = Math.min(threads, most);
    const residents = residentBlocks(kernel, call.device, size, call.size(4));
    if (residents * size > bestResidents * bestThreads) [bestThreads, bestResidents] = [size, residents];
  }
  call.set32(blocksTarget, bestResidents * call.process.gpu.multiprocessors);
  call.set32(threadsTarget, bestThreads);
  return 0;
}

const residents = inContext(sameAs(occupancyCalls, "cudaOccupancyMaxActiveBlocksPerMultiprocessor"));
const parameter = initialized(sameAs(launchCalls, "cudaFuncGetParamInfo"));
const nameOf = initialized(sameAs(launchCalls, "cudaFuncGetName"));

export const kernelCalls: Handlers = {
  cuLaunchKernel: inContext((call) => launchKernel(call, false)),
  cuLaunchCooperativeKernel: inContext((call) => launchKernel(call, true)),
  cuLaunchKernelEx: inContext(launchWithConfig),
  cuLaunchHostFunc: inContext(sameAs(streamCalls, "cudaLaunchHostFunc")),
  cuFuncGetAttribute: inContext(getAttribute),
  cuFuncSetAttribute: inContext((call) => setAttribute(call, call.address(0), call.int(1), call.int(2))),
  cuFuncSetCacheConfig: inContext(sameAs(launchCalls, "cudaFuncSetCacheConfig")),
  cuFuncSetSharedMemConfig: inContext((call) => {
    kernelOf(call, call.address(0));
    return 0;
  }),
  cuFuncGetName: nameOf,
  cuKernelGetName: nameOf,
  cuFuncGetParamInfo: parameter,
  cuKernelGetParamInfo: parameter,
  cuFuncIsLoaded: inContext((call) => {
    kernelOf(call, call.address(1));
    call.set32(call.target(0), 1);
    return 0;
  }),
  cuFuncLoad: inContext((call) => {
    kernelOf(call, call.address(0));
    return 0;
  }),
  cuKernelGetAttribute: initialized(getAttribute),
  /** attribute, value, kernel, device */
  cuKernelSetAttribute: initialized((call) => setAttribute(call, call.address(2), call.int(0), call.int(1))),
  cuKernelSetCacheConfig: initialized(sameAs(launchCalls, "cudaFuncSetCacheConfig")),
  cuOccupancyMaxActiveBlocksPerMultiprocessor: residents,
  cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: residents,
  cuOccupancyAvailableDynamicSMemPerBlock: inContext(
    sameAs(occupancyCalls, "cudaOccupancyAvailableDynamicSMemPerBlock"),
  ),
  cuOccupancyMaxPotentialClusterSize: inContext(sameAs(occupancyCalls, "cudaOccupancyMaxPotentialClusterSize")),
  cuOccupancyMaxActiveClusters: inContext(sameAs(occupancyCalls, "cudaOccupancyMaxActiveClusters")),
  cuOccupancyMaxPotentialBlockSize: inContext(potentialBlock),
  cuOccupancyMaxPotentialBlockSizeWithFlags: inContext(potentialBlock),
};
