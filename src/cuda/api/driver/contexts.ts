import { errors, fail, require } from "../../base/errors.ts";
import { Context } from "../../state/contexts.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { deviceCalls } from "../devices.ts";
import { streamCalls } from "../streams.ts";
import { currentContext, inContext, initialized, primaryOf } from "./driver-call.ts";

/** The device that argument `i` names. Throws if there is none. */
export function deviceNumber(call: Call, i: number): number {
  const number = call.int(i);
  require(number >= 0 && number < call.process.deviceCount, errors.invalidDevice);
  return number;
}

/** The context that argument `i` names. Throws if there is none. */
export const contextAt = (call: Call, i: number): Context =>
  call.process.contexts.get(call.address(i), errors.deviceUninitialized);

/** Makes a context, and makes it current. `flags`, `device`: the arguments that have them. */
const create = (flags: number, device: number) =>
  initialized((call) => {
    const target = call.target(0);
    const number = deviceNumber(call, device);
    call.process.device(number);
    const context = new Context(number, call.uint(flags));
    call.process.contexts.add(context, context.handle);
    call.thread.contexts.push(context);
    call.set64(target, context.handle);
    return 0;
  });

/** Replaces the current context, or takes it away. */
function setCurrent(call: Call): Status {
  const { contexts } = call.thread;
  const context = call.address(0) === 0n ? null : contextAt(call, 0);
  contexts.pop();
  if (context === null) call.thread.usesRuntime = false;
  else contexts.push(context);
  return 0;
}

function release(call: Call): Status {
  const primary = primaryOf(call.process, deviceNumber(call, 0));
  require(primary.references > 0, errors.deviceUninitialized);
  primary.references--;
  return 0;
}

/** What the same function of the runtime does. */
export function sameAs(handlers: Handlers, name: string): (call: Call) => Status {
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`there is no ${name}`);
  return handler;
}

/** The context of the stream that argument `i` names. Default streams are those of the current context. */
export function contextOfStream(call: Call, i: number): Context {
  const stream = call.stream(i);
  const made = call.process.streams.find(call.address(i)) === stream;
  const context = made ? call.process.streamContexts.get(stream) : currentContext(call);
  return context ?? primaryOf(call.process, stream.device);
}

/** stream, context, and perhaps a green context: then the context is the primary one. */
const streamContext = inContext((call) => {
  const context = contextOfStream(call, 0);
  const tellsGreen = call.name.endsWith("_v2");
  const green = tellsGreen && context.green !== null ? context : null;
  call.set64(call.target(1), (green === null ? context : primaryOf(call.process, context.device)).handle);
  if (tellsGreen && call.address(2) !== 0n) call.set64(call.address(2), green?.handle ?? 0n);
  return 0;
});

/** Takes a context away from the program, and from the thread, if it is current. */
export function removeContext(call: Call, context: Context): void {
  call.process.contexts.remove(context.handle);
  const { contexts } = call.thread;
  if (contexts.at(-1) === context) contexts.pop();
}

/** Destroys a context that the program has made. */
const destroy = initialized((call) => {
  const context = contextAt(call, 0);
  require(!context.isPrimary && context.green === null, errors.invalidValue);
  removeContext(call, context);
  return 0;
});

/** context, flags: another use of the current context. */
const attach = inContext((call) => {
  const target = call.target(0);
  const context = currentContext(call)!;
  require(call.uint(1) === 0);
  context.references++;
  call.set64(target, context.handle);
  return 0;
});

/** Ends a use of the current context; the last one is that of `cuCtxCreate`. */
const detach = initialized((call) => {
  const context = contextAt(call, 0);
  require(context === currentContext(call), errors.invalidValue);
  if (context.references === 0) return destroy(call);
  context.references--;
  return 0;
});

const pushCurrent = initialized((call) => {
  call.thread.contexts.push(contextAt(call, 0));
  return 0;
});

const popCurrent = initialized((call) => {
  const context = call.thread.contexts.pop() ?? fail(errors.deviceUninitialized);
  if (call.address(0) !== 0n) call.set64(call.address(0), context.handle);
  return 0;
});

const resetPrimary = initialized((call) => {
  call.process.device(deviceNumber(call, 0)).reset();
  return 0;
});

const setPrimaryFlags = initialized((call) => {
  primaryOf(call.process, deviceNumber(call, 0)).flags = call.uint(1);
  return 0;
});

export const contextCalls: Handlers = {
  cuCtxCreate: create(1, 2),
  cuCtxCreate_v2: create(1, 2),
  cuCtxCreate_v3: create(3, 4),
  cuCtxCreate_v4: create(2, 3),
  cuCtxDestroy: destroy,
  cuCtxDestroy_v2: destroy,
  cuCtxAttach: attach,
  cuCtxDetach: detach,
  cuCtxPushCurrent: pushCurrent,
  cuCtxPushCurrent_v2: pushCurrent,
  cuCtxPopCurrent: popCurrent,
  cuCtxPopCurrent_v2: popCurrent,
  cuCtxSetCurrent: initialized(setCurrent),
  cuCtxGetCurrent: initialized((call) => {
    call.set64(call.target(0), currentContext(call)?.handle ?? 0n);
    return 0;
  }),
  cuCtxGetDevice: inContext((call) => {
    call.set32(call.target(0), call.thread.device);
    return 0;
  }),
  /**
   * device, context, which may be null. What is no context is none either: numba looks for the name with `_v2` first,
   * whichever function it finds, and calls it with one argument.
   */
  cuCtxGetDevice_v2: initialized((call) => {
    const context = call.process.contexts.find(call.address(1)) ?? currentContext(call);
    call.set32(call.target(0), context?.device ?? fail(errors.deviceUninitialized));
    return 0;
  }),
  cuCtxGetId: initialized((call) => {
    const context = call.address(0) === 0n ? currentContext(call) : contextAt(call, 0);
    call.set64(call.target(1), context?.handle ?? fail(errors.deviceUninitialized));
    return 0;
  }),
  cuCtxGetFlags: inContext((call) => {
    call.set32(call.target(0), currentContext(call)!.flags);
    return 0;
  }),
  cuCtxSetFlags: inContext((call) => {
    currentContext(call)!.flags = call.uint(0);
    return 0;
  }),
  cuCtxGetApiVersion: initialized((call) => {
    if (call.address(0) !== 0n) contextAt(call, 0);
    call.set32(call.target(1), 3020);
    return 0;
  }),
  cuCtxSynchronize: inContext(sameAs(deviceCalls, "cudaDeviceSynchronize")),
  cuCtxSynchronize_v2: inContext(sameAs(deviceCalls, "cudaDeviceSynchronize")),
  cuCtxGetLimit: inContext(sameAs(deviceCalls, "cudaDeviceGetLimit")),
  cuCtxSetLimit: inContext(sameAs(deviceCalls, "cudaDeviceSetLimit")),
  cuCtxGetCacheConfig: inContext(sameAs(deviceCalls, "cudaDeviceGetCacheConfig")),
  cuCtxSetCacheConfig: inContext(sameAs(deviceCalls, "cudaDeviceSetCacheConfig")),
  cuCtxGetSharedMemConfig: inContext(sameAs(deviceCalls, "cudaDeviceGetSharedMemConfig")),
  cuCtxSetSharedMemConfig: inContext(sameAs(deviceCalls, "cudaDeviceSetSharedMemConfig")),
  cuCtxResetPersistingL2Cache: inContext(() => 0),
  cuProfilerStart: inContext(sameAs(deviceCalls, "cudaProfilerStart")),
  cuProfilerStop: inContext(sameAs(deviceCalls, "cudaProfilerStop")),
  // The manual: it returns this.
  cuProfilerInitialize: inContext(() => errors.notSupported),
  cuCtxGetStreamPriorityRange: inContext(sameAs(streamCalls, "cudaDeviceGetStreamPriorityRange")),
  /** context of the other device, flags */
  cuCtxEnablePeerAccess: inContext((call) => {
    const { device } = call;
    const peer = contextAt(call, 0).device;
    require(call.uint(1) === 0 && peer !== device.number);
    require(!device.peers.has(peer), errors.peerAccessAlreadyEnabled);
    device.peers.add(peer);
    return 0;
  }),
  cuCtxDisablePeerAccess: inContext((call) => {
    require(call.device.peers.delete(contextAt(call, 0).device), errors.peerAccessNotEnabled);
    return 0;
  }),
  cuStreamGetCtx: streamContext,
  cuStreamGetCtx_v2: streamContext,
  cuDevicePrimaryCtxRetain: initialized((call) => {
    const target = call.target(0);
    const number = deviceNumber(call, 1);
    call.process.device(number);
    const primary = primaryOf(call.process, number);
    primary.references++;
    call.set64(target, primary.handle);
    return 0;
  }),
  cuDevicePrimaryCtxRelease: initialized(release),
  cuDevicePrimaryCtxRelease_v2: initialized(release),
  cuDevicePrimaryCtxReset: resetPrimary,
  cuDevicePrimaryCtxReset_v2: resetPrimary,
  cuDevicePrimaryCtxSetFlags: setPrimaryFlags,
  cuDevicePrimaryCtxSetFlags_v2: setPrimaryFlags,
  /** device, flags, whether it is active */
  cuDevicePrimaryCtxGetState: initialized((call) => {
    const number = deviceNumber(call, 0);
    const known = call.process.primaries.get(number);
    call.set32(call.target(1), known?.flags ?? 0);
    const isActive = (known !== undefined && known.references > 0) || call.thread.usesRuntime;
    call.set32(call.target(2), isActive ? 1 : 0);
    return 0;
  }),
};
