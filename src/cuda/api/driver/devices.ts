import { CudaError, errors, fail, require } from "../../base/errors.ts";
import { totalMemory } from "../../state/allocations.ts";
import { attributeOf, busId, uuidOf } from "../../state/device-properties.ts";
import { sharedPerBlock } from "../../state/gpu.ts";
import { atomicCapabilityCalls } from "../atomic-capabilities.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { cudaVersion, deviceCalls } from "../devices.ts";
import { logCalls } from "../logs.ts";
import { poolCalls } from "../pools.ts";
import { deviceNumber, sameAs } from "./contexts.ts";
import { initialized } from "./driver-call.ts";

/** Writes a text and its zero into room of the program, as much of it as there is room for. */
function setText(call: Call, target: bigint, room: number, text: string): void {
  require(room > 0);
  call.poke(target, new TextEncoder().encode(`${text.slice(0, room - 1)}\0`));
}

const uuid = initialized((call) => {
  call.poke(call.target(0), uuidOf(deviceNumber(call, 1)));
  return 0;
});

function init(call: Call): Status {
  require(call.uint(0) === 0);
  require(call.process.deviceCount > 0, errors.noDevice);
  call.process.isInitialized = true;
  return 0;
}

const size = initialized((call) => {
  deviceNumber(call, 1);
  call.set64(call.target(0), totalMemory);
  return 0;
});

export const driverDeviceCalls: Handlers = {
  cuInit: init,
  /** The driver's private tables. The static runtime asks for them first: it should not have come to that. */
  cuGetExportTable() {
    throw new CudaError(
      errors.notSupported,
      "the program's CUDA runtime cannot be replaced: it is linked into the executable, and the names of its functions were stripped; link it with `-cudart shared`, or do not strip it",
    );
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
    call.set32(call.target(0), deviceNumber(call, 1));
    return 0;
  }),
  /** text, room, device */
  cuDeviceGetName: initialized((call) => {
    deviceNumber(call, 2);
    setText(call, call.target(0), call.int(1), call.process.gpu.name);
    return 0;
  }),
  cuDeviceGetPCIBusId: initialized((call) => {
    setText(call, call.target(0), call.int(1), busId(deviceNumber(call, 2)));
    return 0;
  }),
  cuDeviceGetByPCIBusId: initialized(sameAs(deviceCalls, "cudaDeviceGetByPCIBusId")),
  cuDeviceGetUuid: uuid,
  cuDeviceGetUuid_v2: uuid,
  cuDeviceTotalMem: size,
  cuDeviceTotalMem_v2: size,
  cuDeviceGetAttribute: initialized((call) => {
    const value = attributeOf(call.process.gpu, deviceNumber(call, 2), call.int(1));
    call.set32(call.target(0), value ?? fail(errors.invalidValue));
    return 0;
  }),
  /** Properties as older programs ask for them: CUdevprop, 14 words. */
  cuDeviceGetProperties: initialized((call) => {
    const target = call.target(0);
    deviceNumber(call, 1);
    const { gpu } = call.process;
    // Threads of a block, sizes of blocks and grids, shared and constant memory, warp, pitch, registers, clock,
    // alignment.
    const sizes = [1024, 1024, 1024, 64, 0x7fff_ffff, 65_535, 65_535];
    const values = [...sizes, sharedPerBlock, 65_536, 32, 0x7fff_ffff, 65_536, gpu.clock, 512];
    values.forEach((value, i) => {
      call.set32(target + BigInt(4 * i), value);
    });
    return 0;
  }),
  cuDeviceComputeCapability: initialized((call) => {
    deviceNumber(call, 2);
    call.set32(call.target(0), call.process.gpu.major);
    call.set32(call.target(1), call.process.gpu.minor);
    return 0;
  }),
  cuDeviceGetHostAtomicCapabilities: initialized(sameAs(atomicCapabilityCalls, "cudaDeviceGetHostAtomicCapabilities")),
  cuDeviceGetP2PAtomicCapabilities: initialized(sameAs(atomicCapabilityCalls, "cudaDeviceGetP2PAtomicCapabilities")),
  /** support, type, device: only of the multi-process service, which is not there */
  cuDeviceGetExecAffinitySupport: initialized((call) => {
    deviceNumber(call, 2);
    call.set32(call.target(0), 0);
    return 0;
  }),
  /** value, type, of the current context */
  cuCtxGetExecAffinity: initialized(() => errors.unsupportedExecAffinity),
  ...logCalls("cu"),
  cuProfilerStart: initialized(() => 0),
  cuProfilerStop: initialized(() => 0),
  cuDeviceCanAccessPeer: initialized(sameAs(deviceCalls, "cudaDeviceCanAccessPeer")),
  cuDeviceGetP2PAttribute: initialized(sameAs(deviceCalls, "cudaDeviceGetP2PAttribute")),
  cuDeviceGetDefaultMemPool: initialized(sameAs(poolCalls, "cudaDeviceGetDefaultMemPool")),
  cuDeviceGetMemPool: initialized(sameAs(poolCalls, "cudaDeviceGetMemPool")),
  cuDeviceSetMemPool: initialized(sameAs(poolCalls, "cudaDeviceSetMemPool")),
};
