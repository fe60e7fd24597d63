import { require } from "../../base/errors.ts";
import type { Sizes } from "../../run/kernel-launch.ts";
import type { DeviceKernel } from "../../state/device-module.ts";
import type { Stream } from "../../work/stream.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { kernelOf, launch } from "../launch.ts";
import { inContext } from "./driver-call.ts";

/**
 * Launches as they were before `cuLaunchKernel`: sizes and arguments are set in the function one by one, and stay
 * there. The driver still has these entry points.
 */

const ofKernel = (handler: (call: Call, kernel: DeviceKernel) => Status): Handler =>
  inContext((call) => handler(call, kernelOf(call, call.address(0))));

/** function, offset, and what `bytesOf` returns the bytes of */
const setParameter = (bytesOf: (call: Call) => Uint8Array): Handler =>
  ofKernel((call, { parameterBytes, preset }) => {
    const [at, bytes] = [call.int(1), bytesOf(call)];
    require(at >= 0 && at + bytes.length <= parameterBytes);
    preset.params ??= new Uint8Array(parameterBytes);
    preset.params.set(bytes, at);
    return 0;
  });

/** The bytes of argument 2 as a word: what a float is comes as its bits. */
function word(call: Call): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, call.uint(2), true);
  return bytes;
}

function launchPreset(call: Call, kernel: DeviceKernel, grid: Sizes, stream: Stream): Status {
  const { block, shared, params } = kernel.preset;
  const copied = params?.slice() ?? new Uint8Array(kernel.parameterBytes);
  const spec = { kernel, grid, block, shared, cluster: null, isCooperative: false, params: copied };
  return launch(call, spec, stream, call.address(0));
}

export const functionStateCalls: Handlers = {
  /** function, x, y, z */
  cuFuncSetBlockShape: ofKernel((call, { preset }) => {
    const sizes: Sizes = [call.int(1), call.int(2), call.int(3)];
    require(sizes.every((size) => size > 0));
    preset.block = sizes;
    return 0;
  }),
  cuFuncSetSharedSize: ofKernel((call, { preset }) => {
    preset.shared = call.uint(1);
    return 0;
  }),
  cuParamSetSize: ofKernel((call, { parameterBytes }) => {
    require(call.uint(1) <= parameterBytes);
    return 0;
  }),
  cuParamSeti: setParameter(word),
  cuParamSetf: setParameter(word),
  /** function, offset, address, bytes */
  cuParamSetv: setParameter((call) => call.host.read(call.target(2), call.uint(3))),
  /** The manual: it has no effect any more. */
  cuParamSetTexRef: ofKernel(() => 0),
  cuLaunch: ofKernel((call, kernel) => launchPreset(call, kernel, [1, 1, 1], call.defaultStream)),
  /** function, width, height */
  cuLaunchGrid: ofKernel((call, kernel) =>
    launchPreset(call, kernel, [call.uint(1), call.uint(2), 1], call.defaultStream),
  ),
  /** function, width, height, stream */
  cuLaunchGridAsync: ofKernel((call, kernel) =>
    launchPreset(call, kernel, [call.uint(1), call.uint(2), 1], call.stream(3)),
  ),
};
