import { errors, fail, require } from "../base/errors.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { ordinal } from "./devices.ts";

/** Bits of cudaAtomicOperationCapability. */
const [signed, unsigned, reduction, scalar32, scalar64, scalar128, vector32x4] = [1, 2, 4, 8, 16, 32, 64];

const integer = signed | unsigned | reduction | scalar32 | scalar64;
const counter = unsigned | reduction | scalar32;
const logic = unsigned | reduction | scalar32 | scalar64;
const swap = unsigned | scalar32 | scalar64;
const floatSum = signed | reduction | scalar32 | scalar64;

/**
 * What `atom` and `red` of PTX do, by cudaAtomicOperation: add, min, max, inc, dec, and, or, xor, exch, cas, and the
 * sum, least and greatest of floats. 128 bits and vectors of floats are there from sm_90 on.
 */
const operations = [integer, integer, integer, counter, counter, logic, logic, logic, swap, swap, floatSum, 0, 0];

const onlyOnHopper: Readonly<Record<number, number>> = { 8: scalar128, 9: scalar128, 10: vector32x4 };

/** capabilities, operations, count, and then the devices of the link, which `supports` all operations or none */
function answer(call: Call, supports: boolean): Status {
  const [target, list, count] = [call.target(0), call.target(1), call.uint(2)];
  require(count > 0);
  const isHopper = call.process.gpu.major >= 9;
  for (let i = 0; i < count; i++) {
    const operation = call.host.u32(list + BigInt(4 * i));
    const known = operations[operation] ?? fail(errors.invalidValue);
    const bits = known | (isHopper ? (onlyOnHopper[operation] ?? 0) : 0);
    call.set32(target + BigInt(4 * i), supports ? bits : 0);
  }
  return 0;
}

/** Which atomic operations a link does natively. */
export const atomicCapabilityCalls: Handlers = {
  /** The host is behind PCI Express, as cudaDevAttrHostNativeAtomicSupported says: none. */
  cudaDeviceGetHostAtomicCapabilities(call) {
    ordinal(call, 3);
    return answer(call, false);
  },
  /** Cards have a link that does all that they do, as cudaDevP2PAttrNativeAtomicSupported says. */
  cudaDeviceGetP2PAtomicCapabilities(call) {
    require(ordinal(call, 3) !== ordinal(call, 4), errors.invalidDevice);
    return answer(call, true);
  },
};
