import { errors, fail, require } from "../../base/errors.ts";
import { offsetOf } from "../../base/addresses.ts";
import { totalMemory } from "../../state/allocations.ts";
import { PhysicalMemory, ReservedRange } from "../../state/virtual-memory.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { waitFor } from "../order.ts";
import { inContext } from "./driver-call.ts";

/** Sizes and addresses are multiples of it. */
const granularity = 1 << 21;
const propertyBytes = 32;

/** CUmemAccessDesc: the kind and the number of a place, and the flags of what it may do. */
const access = { bytes: 12, flagsAt: 8, none: 0, read: 1, readWrite: 3 } as const;

const isRound = (bytes: number): boolean => bytes > 0 && bytes % granularity === 0;

/** The range around an address. Throws if there is none. */
function rangeAt(call: Call, address: bigint): ReservedRange {
  const owner = call.process.allocations.find(address)?.owner;
  return owner instanceof ReservedRange ? owner : fail(errors.invalidValue);
}

const memoryAt = (call: Call, handle: bigint): PhysicalMemory => {
  const found = call.process.physicalMemory.find(handle);
  return found !== undefined && found.references > 0 ? found : fail(errors.invalidValue);
};

/** The device of a CUmemAllocationProp: memory of a device, for this process alone. */
function checkProperties(call: Call, properties: DataView): void {
  require(properties.getUint32(0, true) === 1);
  require(properties.getUint32(4, true) === 0, errors.notSupported);
  require(properties.getUint32(8, true) === 1, errors.notSupported);
  const device = properties.getInt32(12, true);
  require(device >= 0 && device < call.process.deviceCount, errors.invalidDevice);
}

/** address, bytes, alignment, wanted address, flags */
function reserve(call: Call): Status {
  const target = call.target(0);
  const [bytes, alignment] = [call.size(1), call.size(2)];
  require(
    isRound(bytes) && (alignment === 0 || (alignment <= bytes * 2 ** 10 && Number.isInteger(Math.log2(alignment)))),
  );
  const where = { device: call.device.number, align: Math.max(granularity, alignment) };
  const range = new ReservedRange(call.process.allocations, bytes, where);
  call.set64(target, range.address);
  return 0;
}

/** handle, bytes, properties, flags */
function create(call: Call): Status {
  const target = call.target(0);
  require(isRound(call.size(1)) && call.size(3) === 0);
  const properties = call.host.read(call.target(2), propertyBytes);
  checkProperties(call, new DataView(properties.buffer));
  const others = [...call.process.physicalMemory.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  require(others + call.size(1) <= totalMemory, errors.memoryAllocation);
  const made = new PhysicalMemory(call.size(1), properties);
  call.set64(target, call.process.physicalMemory.add(made, made.handle));
  return 0;
}

/** Memory that neither the program nor an address has any more is forgotten. */
function forget(call: Call): void {
  for (const [handle, { references, mapping }] of call.process.physicalMemory.entries()) {
    if (references === 0 && mapping === null) call.process.physicalMemory.remove(handle);
  }
}

/** What changes addresses waits for the device. */
const whenIdle = (run: (call: Call) => void): Handler =>
  inContext((call) =>
    waitFor(call, call.device.streams.ended(), () => {
      run(call);
      return call.process.error;
    }),
  );

export const virtualMemoryCalls: Handlers = {
  cuMemAddressReserve: inContext(reserve),
  /** address, bytes */
  cuMemAddressFree: inContext((call) => {
    const range = rangeAt(call, call.address(0));
    require(range.address === call.address(0) && range.allocation.bytes === call.size(1) && !range.isMapped);
    range.release();
    return 0;
  }),
  cuMemCreate: inContext(create),
  cuMemRelease: inContext((call) => {
    memoryAt(call, call.address(0)).references--;
    forget(call);
    return 0;
  }),
  /** address, bytes, offset, handle, flags */
  cuMemMap: inContext((call) => {
    require(call.size(2) === 0 && call.size(4) === 0);
    rangeAt(call, call.address(0)).map(memoryAt(call, call.address(3)), offsetOf(call.address(0))!, call.size(1));
    return 0;
  }),
  /** address, bytes */
  cuMemUnmap: whenIdle((call) => {
    rangeAt(call, call.address(0)).unmap(offsetOf(call.address(0))!, call.size(1));
    forget(call);
  }),
  /** address, bytes, descriptions, count: what one device may use all may */
  cuMemSetAccess: inContext((call) => {
    const count = call.size(3);
    require(count > 0);
    const flags = Array.from({ length: count }, (_, i) =>
      call.host.u32(call.target(2) + BigInt(access.bytes * i + access.flagsAt)),
    );
    require(flags.every((given) => given === access.none || given === access.read || given === access.readWrite));
    rangeAt(call, call.address(0)).setAccess(offsetOf(call.address(0))!, call.size(1), Math.max(...flags));
    return 0;
  }),
  /** flags, location, address */
  cuMemGetAccess: inContext((call) => {
    const found = rangeAt(call, call.address(2)).find(offsetOf(call.address(2))!) ?? fail(errors.invalidValue);
    call.set64(call.target(0), found.access);
    return 0;
  }),
  /** granularity, properties, option */
  cuMemGetAllocationGranularity: inContext((call) => {
    checkProperties(call, call.host.view(call.target(1), propertyBytes));
    call.set64(call.target(0), granularity);
    return 0;
  }),
  /** properties, handle */
  cuMemGetAllocationPropertiesFromHandle: inContext((call) => {
    call.poke(call.target(0), memoryAt(call, call.address(1)).properties);
    return 0;
  }),
  /** handle, address */
  cuMemRetainAllocationHandle: inContext((call) => {
    const target = call.target(0);
    const found = rangeAt(call, call.address(1)).find(offsetOf(call.address(1))!) ?? fail(errors.invalidValue);
    found.memory.references++;
    call.set64(target, found.memory.handle);
    return 0;
  }),
};
