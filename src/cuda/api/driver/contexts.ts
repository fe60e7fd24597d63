import { errors, fail, require } from "../../base/errors.ts";
import { newHandle } from "../../base/handles.ts";
import { attributeOf, propertyBytes, totalMemory, uuidOf } from "../../state/device-properties.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { cudaVersion, deviceCalls } from "../devices.ts";
import { type Context, currentContext, driverOf, inContext, initialized, setCurrent } from "./state.ts";

/** The device that argument `i` names. */
function ordinal(call: Call, i: number): number {
  const number = call.int(i);
  require(number >= 0 && number < call.process.deviceCount, errors.invalidDevice);
  return number;
}

const contextAt = (call: Call, i: number): Context =>
  driverOf(call).contexts.get(call.address(i), errors.deviceUninitialized);

/** Makes a context and pushes it. */
function createContext(call: Call, flags: number, device: number): Status {
  const target = call.target(0);
  const context = { handle: newHandle(), device, flags };
  driverOf(call).contexts.add(context, context.handle);
  driverOf(call).stack(call.thread.id).push(context);
  call.thread.device = device;
  call.set64(target, context.handle);
  return 0;
}

function destroyContext(call: Call): Status {
  const context = contextAt(call, 0);
  const stack = driverOf(call).stack(call.thread.id);
  if (stack.at(-1) === context) stack.pop();
  driverOf(call).contexts.remove(context.handle);
  return 0;
}

/** A text for a buffer of so many bytes, cut off where it does not fit. */
function pokeText(call: Call, at: bigint, room: number, text: string): void {
  require(room > 0);
  const bytes = new TextEncoder().encode(text).subarray(0, room - 1);
  call.poke(at, Uint8Array.of(...bytes, 0));
}

const runtime = (name: string): Handler => deviceCalls[name]!;

const devices: Handlers = {
  cuInit(call) {
    require(call.uint(0) === 0);
    driverOf(call).isInitialized = true;
    return call.process.deviceCount > 0 ? 0 : errors.noDevice;
  },
  cuDriverGetVersion(call) {
    call.set32(call.target(0), cudaVersion);
    return 0;
  },
  cuDeviceGetCount: initialized((call) => {
    call.set32(call.target(0), call.process.deviceCount);
    return 0;
  }),
  cuDeviceGet: initialized((call) => {
    call.set32(call.target(0), ordinal(call, 1));
    return 0;
  }),
  cuDeviceGetName: initialized((call) => {
    ordinal(call, 2);
    pokeText(call, call.target(0), call.int(1), call.process.gpu.name);
    return 0;
  }),
  cuDeviceTotalMem_v2: initialized((call) => {
    ordinal(call, 1);
    call.set64(call.target(0), totalMemory);
    return 0;
  }),
  cuDeviceGetUuid_v2: initialized((call) => {
    call.poke(call.target(0), uuidOf(ordinal(call, 1)));
    return 0;
  }),
  cuDeviceGetUuid: initialized((call) => {
    call.poke(call.target(0), uuidOf(ordinal(call, 1)));
    return 0;
  }),
  cuDeviceGetAttribute: initialized((call) => {
    const target = call.target(0);
    const value = attributeOf(call.process.gpu, ordinal(call, 2), call.int(1));
    if (value === null) return errors.invalidValue;
    call.set32(target, value);
    return 0;
  }),
  cuDeviceComputeCapability: initialized((call) => {
    ordinal(call, 2);
    call.set32(call.target(0), call.process.gpu.major);
    call.set32(call.target(1), call.process.gpu.minor);
    return 0;
  }),
  cuDeviceGetProperties: initialized((call) => {
    // The older structure: threads of a block, sizes of blocks and grids, shared, constant, warp, pitch, registers, ...
    const target = call.target(0);
    const gpu = propertyBytes(call.process.gpu, ordinal(call, 1));
    const view = new DataView(gpu.buffer);
    const values = [1024, 1024, 1024, 64, 0x7fff_ffff, 65_535, 65_535, 49_152, 65_536, 32, 0x7fff_ffff, 65_536];
    [...values, call.process.gpu.clock, view.getInt32(368, true)].forEach((value, i) => {
      call.set32(target + BigInt(4 * i), value);
    });
    return 0;
  }),
  cuDeviceGetPCIBusId: initialized(runtime("cudaDeviceGetPCIBusId")),
  cuDeviceGetByPCIBusId: initialized(runtime("cudaDeviceGetByPCIBusId")),
  cuDeviceCanAccessPeer: initialized(runtime("cudaDeviceCanAccessPeer")),
  cuDeviceGetP2PAttribute: initialized(runtime("cudaDeviceGetP2PAttribute")),
};

export const contextCalls: Handlers = {
  ...devices,
  cuCtxCreate_v2: initialized((call) => createContext(call, call.uint(1), ordinal(call, 2))),
  cuCtxCreate_v3: initialized((call) => createContext(call, call.uint(3), ordinal(call, 4))),
  cuCtxCreate_v4: initialized((call) => createContext(call, call.uint(2), ordinal(call, 3))),
  cuCtxDestroy: initialized(destroyContext),
  cuCtxDestroy_v2: initialized(destroyContext),
  cuCtxGetCurrent: initialized((call) => {
    call.set64(call.target(0), currentContext(call)?.handle ?? 0n);
    return 0;
  }),
  cuCtxSetCurrent: initialized((call) => {
    setCurrent(call, call.address(0) === 0n ? null : contextAt(call, 0));
    return 0;
  }),
  cuCtxPushCurrent_v2: initialized((call) => {
    const context = contextAt(call, 0);
    driverOf(call).stack(call.thread.id).push(context);
    call.thread.device = context.device;
    return 0;
  }),
  cuCtxPopCurrent_v2: initialized((call) => {
    const stack = driverOf(call).stack(call.thread.id);
    const context = stack.pop() ?? fail(errors.deviceUninitialized);
    if (call.address(0) !== 0n) call.set64(call.address(0), context.handle);
    const below = stack.at(-1);
    if (below !== undefined) call.thread.device = below.device;
    return 0;
  }),
  cuCtxGetDevice: inContext((call) => {
    call.set32(call.target(0), call.thread.device);
    return 0;
  }),
  cuCtxGetFlags: inContext((call) => {
    call.set32(call.target(0), currentContext(call)!.flags);
    return 0;
  }),
  cuCtxGetApiVersion: initialized((call) => {
    call.set32(call.target(1), cudaVersion);
    return 0;
  }),
  cuCtxGetId: inContext((call) => {
    call.set64(call.target(1), call.address(0) === 0n ? currentContext(call)!.handle : call.address(0));
    return 0;
  }),
  cuCtxSynchronize: inContext(runtime("cudaDeviceSynchronize")),
  cuCtxGetLimit: inContext(runtime("cudaDeviceGetLimit")),
  cuCtxSetLimit: inContext(runtime("cudaDeviceSetLimit")),
  cuCtxGetCacheConfig: inContext(runtime("cudaDeviceGetCacheConfig")),
  cuCtxSetCacheConfig: inContext(runtime("cudaDeviceSetCacheConfig")),
  cuCtxResetPersistingL2Cache: inContext(runtime("cudaCtxResetPersistingL2Cache")),
  cuCtxEnablePeerAccess: inContext((call) => {
    const peer = contextAt(call, 0).device;
    require(peer !== call.thread.device, errors.invalidDevice);
    require(!call.device.peers.has(peer), errors.peerAccessAlreadyEnabled);
    call.device.peers.add(peer);
    return 0;
  }),
  cuCtxDisablePeerAccess: inContext((call) => {
    require(call.device.peers.delete(contextAt(call, 0).device), errors.peerAccessNotEnabled);
    return 0;
  }),
  cuDevicePrimaryCtxRetain: initialized((call) => {
    call.set64(call.target(0), driverOf(call).primary(ordinal(call, 1)).handle);
    return 0;
  }),
  cuDevicePrimaryCtxRelease_v2: initialized((call) => {
    ordinal(call, 0);
    return 0;
  }),
  cuDevicePrimaryCtxSetFlags_v2: initialized((call) => {
    ordinal(call, 0);
    return 0;
  }),
  cuDevicePrimaryCtxReset_v2: initialized((call) => {
    call.thread.device = ordinal(call, 0);
    return runtime("cudaDeviceReset")(call);
  }),
  cuDevicePrimaryCtxGetState: initialized((call) => {
    const device = ordinal(call, 0);
    call.set32(call.target(1), 0);
    call.set32(call.target(2), call.process.usedDevices.some(({ number }) => number === device) ? 1 : 0);
    return 0;
  }),
  cuProfilerStart: inContext(() => 0),
  cuProfilerStop: inContext(() => 0),
};
