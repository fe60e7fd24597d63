import { errors, fail, require } from "../base/errors.ts";
import { attributeOf, busId, defaultLimits, limitNumber, maxHeap, propertyBytes } from "../state/device-properties.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { relyOn } from "./host-access.ts";
import { forbidCaptures, waitFor } from "./order.ts";

/** The version of the runtime and of the driver that programs see. */
export const cudaVersion = 13_000;

/** Flags of a device: how the host waits, which are not to be combined, and others. */
const deviceFlags = { mask: 0x1f, waiting: 0x7 } as const;

function synchronize(call: Call): Status {
  const { device } = call;
  forbidCaptures(call);
  call.showsOutput = true;
  relyOn(call, (order) => order.allEnded());
  return waitFor(call, device.streams.ended(), () => call.process.error);
}

/** The device that argument `i` names. Throws if there is none. */
export function ordinal(call: Call, i: number): number {
  const number = call.int(i);
  if (call.process.deviceCount === 0) fail(errors.noDevice);
  require(number >= 0 && number < call.process.deviceCount, errors.invalidDevice);
  return number;
}

/** How well a device does what is wanted: cudaChooseDevice takes the best, the first of equals. */
function chooseDevice(call: Call): Status {
  const target = call.target(0);
  call.host.view(call.target(1), 8);
  if (call.process.deviceCount === 0) fail(errors.noDevice);
  call.set32(target, 0);
  return 0;
}

function setLimit(call: Call): Status {
  const { device } = call;
  const [limit, value] = [call.int(0), call.address(1)];
  require(defaultLimits.has(limit), errors.unsupportedLimit);
  require(!device.fixedLimits.has(limit));
  if (limit === limitNumber.heapBytes) {
    require(value <= maxHeap, errors.memoryAllocation);
    call.process.machine.memory.heap.limit = Number(value);
  }
  if (limit === limitNumber.printfBytes) call.process.output.limit = Math.max(1024, Number(value));
  device.limits.set(limit, value);
  return 0;
}

/** Whether two different devices name each other. */
function isPeer(call: Call, a: number, b: number): boolean {
  const count = call.process.deviceCount;
  require(a >= 0 && a < count && b >= 0 && b < count, errors.invalidDevice);
  return a !== b;
}

/** Enables or disables that the current device uses the memory of another. */
function setPeer(call: Call, enable: boolean): Status {
  const { device } = call;
  const peer = call.int(0);
  if (!isPeer(call, device.number, peer)) fail(errors.invalidDevice);
  if (enable) {
    require(call.uint(1) === 0);
    require(!device.peers.has(peer), errors.peerAccessAlreadyEnabled);
    device.peers.add(peer);
    return 0;
  }
  require(device.peers.delete(peer), errors.peerAccessNotEnabled);
  return 0;
}

export const deviceCalls: Handlers = {
  cudaGetDeviceProperties(call) {
    const target = call.target(0);
    call.poke(target, propertyBytes(call.process.gpu, ordinal(call, 1)));
    return 0;
  },
  cudaDeviceGetAttribute(call) {
    const target = call.target(0);
    const device = ordinal(call, 2);
    const value = attributeOf(call.process.gpu, device, call.int(1));
    if (value === null) return errors.invalidValue;
    call.set32(target, value);
    return 0;
  },
  cudaChooseDevice: chooseDevice,
  cudaDeviceGetPCIBusId(call) {
    const target = call.target(0);
    const text = new TextEncoder().encode(`${busId(ordinal(call, 2))}\0`);
    // What there is room for is written in any case, with an end.
    const room = Math.max(0, Math.min(call.int(1), text.length));
    if (room > 0) call.poke(target, Uint8Array.of(...text.subarray(0, room - 1), 0));
    return room < text.length ? errors.invalidValue : 0;
  },
  cudaDeviceGetByPCIBusId(call) {
    const target = call.target(0);
    const [bus = "", number = ""] = call.host.string(call.target(1)).split(":").slice(-2);
    for (let i = 0; i < call.process.deviceCount; i++) {
      const [, ownBus = "", ownNumber = ""] = busId(i).split(":");
      if (parseInt(bus, 16) !== parseInt(ownBus, 16) || parseInt(number, 16) !== parseInt(ownNumber, 16)) continue;
      call.set32(target, i);
      return 0;
    }
    return errors.invalidDevice;
  },
  cudaDeviceSetLimit: setLimit,
  cudaDeviceGetLimit(call) {
    const target = call.target(0);
    const { limits } = call.device;
    const value = limits.get(call.int(1)) ?? defaultLimits.get(call.int(1));
    if (value === undefined) return errors.unsupportedLimit;
    call.set64(target, value);
    return 0;
  },
  cudaDeviceGetCacheConfig(call) {
    void call.device;
    call.set32(call.target(0), call.device.cacheConfig);
    return 0;
  },
  cudaDeviceSetCacheConfig(call) {
    require(call.uint(0) <= 3);
    call.device.cacheConfig = call.uint(0);
    return 0;
  },
  cudaDeviceGetSharedMemConfig(call) {
    void call.device;
    call.set32(call.target(0), 1);
    return 0;
  },
  cudaDeviceSetSharedMemConfig(call) {
    void call.device;
    require(call.uint(0) <= 2);
    return 0;
  },
  cudaDeviceCanAccessPeer(call) {
    call.set32(call.target(0), isPeer(call, call.int(1), call.int(2)) ? 1 : 0);
    return 0;
  },
  cudaDeviceEnablePeerAccess: (call) => setPeer(call, true),
  cudaDeviceDisablePeerAccess: (call) => setPeer(call, false),
  cudaDeviceGetP2PAttribute(call) {
    const target = call.target(0);
    if (!isPeer(call, call.int(2), call.int(3))) fail(errors.invalidDevice);
    const values: Readonly<Record<number, number>> = { 1: 0, 2: 1, 3: 1, 4: 1 };
    const value = values[call.int(1)];
    if (value === undefined) return errors.invalidValue;
    call.set32(target, value);
    return 0;
  },
  cudaSetValidDevices(call) {
    const count = call.int(1);
    require(count >= 0 && count <= call.process.deviceCount);
    return 0;
  },
  cudaCtxResetPersistingL2Cache(call) {
    void call.device;
    return 0;
  },
  cudaProfilerStart(call) {
    void call.device;
    return 0;
  },
  cudaProfilerStop(call) {
    void call.device;
    return 0;
  },
  cudaGetDeviceCount(call) {
    const target = call.target(0);
    call.set32(target, call.process.deviceCount);
    return call.process.deviceCount > 0 ? 0 : errors.noDevice;
  },
  cudaSetDevice(call) {
    const number = call.int(0);
    call.process.device(number);
    call.thread.device = number;
    call.thread.usesRuntime = true;
    return 0;
  },
  cudaGetDevice(call) {
    void call.device;
    call.set32(call.target(0), call.thread.device);
    return 0;
  },
  cudaDeviceSynchronize: synchronize,
  cudaThreadSynchronize: synchronize,
  cudaDeviceReset(call) {
    const { device } = call;
    call.showsOutput = true;
    return waitFor(call, device.streams.ended(), () => {
      device.reset();
      return call.process.error;
    });
  },
  cudaRuntimeGetVersion(call) {
    call.set32(call.target(0), cudaVersion);
    return 0;
  },
  cudaDriverGetVersion(call) {
    call.set32(call.target(0), cudaVersion);
    return 0;
  },
  cudaSetDeviceFlags(call) {
    const flags = call.uint(0);
    require((flags & ~deviceFlags.mask) === 0 && [0, 1, 2, 4].includes(flags & deviceFlags.waiting));
    call.device.flags = flags;
    return 0;
  },
  cudaGetDeviceFlags(call) {
    call.set32(call.target(0), call.device.flags | 8);
    return 0;
  },
  cudaInitDevice(call) {
    call.process.device(call.int(0));
    return 0;
  },
};
