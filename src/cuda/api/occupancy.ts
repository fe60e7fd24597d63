import { require } from "../base/errors.ts";
import { residentBlocks, type Sizes } from "../run/kernel-launch.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { launchAttribute } from "./launch-attributes.ts";
import { kernelOf } from "./launch.ts";

/** count, function, threads, shared memory */
function residents(call: Call): Status {
  const target = call.target(0);
  const kernel = kernelOf(call, call.address(1));
  const [threads, shared] = [call.int(2), call.size(3)];
  // The flags of the call that has some: whether a cache is to be left alone.
  require(threads > 0 && (!call.name.endsWith("WithFlags") || call.uint(4) <= 1));
  call.set32(target, residentBlocks(kernel, call.device, threads, shared));
  return 0;
}

/** The sizes in a cudaLaunchConfig_t, and the value of its cluster attribute. */
function clusterIn(call: Call, config: DataView): Sizes {
  const attributes = config.getBigUint64(40, true);
  for (let i = 0; i < config.getUint32(48, true); i++) {
    const attribute = call.host.view(attributes + BigInt(72 * i), 72);
    if (attribute.getUint32(0, true) === launchAttribute.clusterDimension) {
      return [8, 12, 16].map((at) => attribute.getUint32(at, true)) as unknown as Sizes;
    }
  }
  return [1, 1, 1];
}

export const occupancyCalls: Handlers = {
  cudaOccupancyMaxActiveBlocksPerMultiprocessor: residents,
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: residents,
  /** bytes, function, blocks, threads */
  cudaOccupancyAvailableDynamicSMemPerBlock(call) {
    const target = call.target(0);
    const kernel = kernelOf(call, call.address(1));
    const [blocks, threads] = [call.int(2), call.int(3)];
    require(blocks > 0 && threads > 0 && threads <= kernel.maxThreads);
    const { sharedPerMultiprocessor, sharedReserved } = call.process.gpu;
    const each = Math.floor(sharedPerMultiprocessor / blocks) - sharedReserved - kernel.staticShared;
    call.set64(target, Math.max(0, Math.min(each, call.process.gpu.sharedOptIn - kernel.staticShared)));
    return 0;
  },
  /** size, function, configuration */
  cudaOccupancyMaxPotentialClusterSize(call) {
    const target = call.target(0);
    const kernel = kernelOf(call, call.address(1));
    call.host.view(call.target(2), 56);
    call.set32(target, kernel.hints.get(14) ? 16 : 8);
    return 0;
  },
  /** clusters, function, configuration */
  cudaOccupancyMaxActiveClusters(call) {
    const target = call.target(0);
    const kernel = kernelOf(call, call.address(1));
    const config = call.host.view(call.target(2), 56);
    const [x, y, z] = clusterIn(call, config);
    const threads = [12, 16, 20].reduce((product, at) => product * config.getUint32(at, true), 1);
    const blocks = residentBlocks(kernel, call.device, threads, Number(config.getBigUint64(24, true)));
    call.set32(target, Math.floor((blocks * call.process.gpu.multiprocessors) / (x * y * z)));
    return 0;
  },
};
