import { errors, fail, require } from "../base/errors.ts";
import { allocateTask, freeTask } from "../run/tasks.ts";
import type { Allocation } from "../state/allocations.ts";
import type { CudaDevice } from "../state/cuda-device.ts";
import { GraphMemory } from "../state/graph-memory.ts";
import { MemoryPool } from "../state/memory-pool.ts";
import type { Stream } from "../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "./call.ts";
import { addCaptured, captureOf, enqueue } from "./order.ts";

/** Where memory is: kinds of cudaMemLocation. */
const location = { none: 0, device: 1 } as const;

/** Attributes of pools by number. */
const attribute = { threshold: 4, reserved: 5, reservedHigh: 6, used: 7, usedHigh: 8 } as const;

const poolAt = (call: Call, i: number): MemoryPool => call.process.pools.get(call.address(i), errors.invalidValue);

/** Memory that a graph allocates, in a stream that is being captured. */
function captureAllocation(call: Call, stream: Stream, bytes: number): bigint | null {
  const capture = captureOf(stream);
  if (capture === null) return null;
  const params = new Bytes(120).u32(0, 1).u32(8, location.device).u32(12, stream.device).u64(104, bytes);
  const memory = new GraphMemory(call.process, { bytes, device: stream.device, params: params.data });
  params.u64(112, memory.address);
  addCaptured(call, stream, capture, allocateTask(memory));
  return memory.address;
}

/** Allocates in the order of a stream: what was freed before in that order may be given out again. */
function allocate(call: Call, pool: MemoryPool | null, stream: Stream): Status {
  const target = call.target(0);
  const bytes = call.size(1);
  const device = call.process.device(stream.device);
  if (bytes === 0) {
    call.set64(target, 0n);
    return 0;
  }
  const address = captureAllocation(call, stream, bytes) ?? (pool ?? device.pool).allocate(bytes);
  call.set64(target, address);
  return 0;
}

/** The allocation at an address that a stream frees in its turn. Throws for memory of the host. */
function ownedAt(call: Call, address: bigint): Allocation {
  const found = call.process.allocations.at(address);
  return found !== null && found.kind === "device" ? found : fail(errors.invalidValue);
}

/** Frees in the order of a stream, whichever call the memory came from. */
function free(call: Call, address: bigint, stream: Stream): Status {
  void call.device;
  if (address === 0n) return 0;
  const found = ownedAt(call, address);
  const capture = captureOf(stream);
  if (capture !== null) {
    require(found.owner instanceof GraphMemory);
    addCaptured(call, stream, capture, freeTask(found.owner));
    return 0;
  }
  require(!call.process.freedLater.has(found));
  call.process.freedLater.add(found);
  enqueue(call, stream, () => {
    call.process.freedLater.delete(found);
    call.process.allocations.giveBack(found);
  });
  return 0;
}

/** The device of a cudaMemLocation. Throws for places other than devices, and `none` where there is no such device. */
function deviceIn(call: Call, address: bigint, none: number = errors.invalidDevice): number {
  const place = call.host.view(address, 8);
  const kind = place.getUint32(0, true);
  require(kind !== location.none);
  require(kind === location.device, errors.notSupported);
  const number = place.getInt32(4, true);
  require(number >= 0 && number < call.process.deviceCount, none);
  return number;
}

function create(call: Call): Status {
  const target = call.target(0);
  const props = call.host.view(call.target(1), 32);
  const { device } = call;
  require(props.getUint32(0, true) === 1);
  // Handles for other processes cannot be made.
  require(props.getUint32(4, true) === 0, errors.notSupported);
  const owner = deviceIn(call, call.address(1) + 8n, errors.invalidValue);
  const pool = new MemoryPool(device.process.allocations, owner, Number(props.getBigUint64(24, true)));
  call.set64(target, call.process.pools.add(pool, pool.handle));
  return 0;
}

function setAttribute(call: Call): Status {
  const pool = poolAt(call, 0);
  const [id, target] = [call.uint(1), call.target(2)];
  if (pool.hints.has(id)) {
    pool.hints.set(id, call.host.u32(target));
    return 0;
  }
  const value = call.host.u64(target);
  if (id === attribute.threshold) {
    pool.threshold = value;
    return 0;
  }
  // What was in use at most can only be set back.
  require((id === attribute.reservedHigh || id === attribute.usedHigh) && value === 0n);
  if (id === attribute.reservedHigh) pool.reservedHigh = pool.reserved;
  else pool.usedHigh = pool.used;
  return 0;
}

function getAttribute(call: Call): Status {
  const pool = poolAt(call, 0);
  const [id, target] = [call.uint(1), call.target(2)];
  const hint = pool.hints.get(id);
  if (hint !== undefined) {
    call.set32(target, hint);
    return 0;
  }
  const values: Readonly<Record<number, bigint | number>> = {
    [attribute.threshold]: pool.threshold,
    [attribute.reserved]: pool.reserved,
    [attribute.reservedHigh]: pool.reservedHigh,
    [attribute.used]: pool.used,
    [attribute.usedHigh]: pool.usedHigh,
  };
  call.set64(target, values[id] ?? fail(errors.invalidValue));
  return 0;
}

/** pool, descriptions (location and flags), count */
function setAccess(call: Call): Status {
  const pool = poolAt(call, 0);
  require(call.size(2) <= call.process.deviceCount, errors.invalidDevice);
  for (let i = 0; i < call.size(2); i++) {
    const at = call.target(1) + BigInt(12 * i);
    const flags = call.host.u32(at + 8n);
    require(flags === 0 || flags === 1 || flags === 3);
    const device = deviceIn(call, at);
    // The device that has the memory cannot lose it.
    require(device !== pool.device || flags === 3, errors.invalidDevice);
    pool.access.set(device, flags);
  }
  return 0;
}

const giveHandle = (call: Call, pool: MemoryPool): Status => {
  call.set64(call.target(0), pool.handle);
  return 0;
};

/** The device with the number in argument `i`. Throws an invalid value if there is none. */
function deviceAt(call: Call, i: number): CudaDevice {
  require(call.int(i) >= 0 && call.int(i) < call.process.deviceCount);
  return call.process.device(call.int(i));
}

/** Lets a device allocate from one of its pools. */
function setPool(device: CudaDevice, pool: MemoryPool): Status {
  require(pool.device === device.number);
  device.pool = pool;
  return 0;
}

export const poolCalls: Handlers = {
  cudaMallocAsync: (call) => allocate(call, null, call.stream(2)),
  cudaMallocFromPoolAsync: (call) => allocate(call, poolAt(call, 2), call.stream(3)),
  cudaFreeAsync: (call) => free(call, call.address(0), call.stream(1)),
  cudaMemPoolCreate: create,
  cudaMemPoolDestroy(call) {
    const pool = poolAt(call, 0);
    const device = call.process.device(pool.device);
    require(pool !== device.defaultPool);
    if (device.pool === pool) device.pool = device.defaultPool;
    call.process.pools.remove(pool.handle);
    return 0;
  },
  cudaMemPoolTrimTo(call) {
    poolAt(call, 0).trim(call.address(1));
    return 0;
  },
  cudaMemPoolSetAttribute: setAttribute,
  cudaMemPoolGetAttribute: getAttribute,
  cudaMemPoolSetAccess: setAccess,
  /** flags, pool, location */
  cudaMemPoolGetAccess(call) {
    const target = call.target(0);
    const pool = poolAt(call, 1);
    const device = deviceIn(call, call.target(2), errors.invalidValue);
    call.set32(target, device === pool.device ? 3 : (pool.access.get(device) ?? 0));
    return 0;
  },
  cudaDeviceGetDefaultMemPool: (call) => giveHandle(call, call.process.device(call.int(1)).defaultPool),
  cudaDeviceGetMemPool: (call) => giveHandle(call, deviceAt(call, 1).pool),
  cudaDeviceSetMemPool: (call) => setPool(deviceAt(call, 0), poolAt(call, 1)),
  cudaMemGetDefaultMemPool: (call) => giveHandle(call, call.process.device(deviceIn(call, call.target(1))).defaultPool),
  cudaMemGetMemPool: (call) => giveHandle(call, call.process.device(deviceIn(call, call.target(1))).pool),
  /** location, kind, pool */
  cudaMemSetMemPool: (call) => setPool(call.process.device(deviceIn(call, call.target(0))), poolAt(call, 2)),
};
