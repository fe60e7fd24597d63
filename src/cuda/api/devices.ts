import { errors, require } from "../base/errors.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { waitFor } from "./order.ts";

/** The version of the runtime and of the driver that programs see. */
export const cudaVersion = 13_000;

const flagsMask = 0x1f;

function synchronize(call: Call): Status {
  const { device } = call;
  call.showsOutput = true;
  return waitFor(call, device.streams.ended(), () => call.process.error);
}

export const deviceCalls: Handlers = {
  cudaGetDeviceCount(call) {
    const target = call.target(0);
    call.set32(target, call.process.deviceCount);
    return call.process.deviceCount > 0 ? 0 : errors.noDevice;
  },
  cudaSetDevice(call) {
    const number = call.int(0);
    call.process.device(number);
    call.thread.device = number;
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
    require((call.uint(0) & ~flagsMask) === 0);
    call.device.flags = call.uint(0);
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
