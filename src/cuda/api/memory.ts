import { CudaError, errors, fail, invalid, require } from "../base/errors.ts";
import { addressOf, offsetOf } from "../base/addresses.ts";
import { type Allocation, type AllocationKind, totalMemory } from "../state/allocations.ts";
import type { CudaProcess } from "../state/process.ts";
import {
  checkDirection,
  checkInUse,
  copyBytes,
  isOfHost,
  isPageable,
  noteCopied,
  type Place,
  placeOf,
} from "../run/copies.ts";
import { type Fill, fillRows, isEmpty, placeOfRegion, type Region } from "../run/regions.ts";
import { copyParams, type CopyTask, copyTask, type FillTask, fillTask } from "../run/tasks.ts";
import { itemKind } from "../base/wire.ts";
import type { Stream } from "../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "./call.ts";
import { closeForCopy, relyOn } from "./host-access.ts";
import { enqueue, forbidUnsafe, waitFor } from "./order.ts";

const pitchAlignment = 512;

/** The pitch of rows of some bytes. Throws if that is no size_t. */
export function pitchOf(width: number): number {
  const pitch = Math.ceil(width / pitchAlignment) * pitchAlignment;
  require(pitch < 2 ** 64);
  return pitch;
}

/** Allocates, and gives the program the address when the call returns. */
export function allocate(call: Call, kind: AllocationKind, bytes: number, flags = 0): bigint {
  const { device, process } = call;
  forbidUnsafe(call);
  if (bytes === 0) return 0n;
  const made = call.process.allocations.add(
    bytes,
    { kind, device: device.number, flags },
    undefined,
    process.notesWrites && kind === "device",
  );
  const address = addressOf(made.offset);
  if (kind !== "device") call.protect(address, bytes, "open");
  return address;
}

/** Frees what begins at an address, once the device is idle. */
function release(call: Call, address: bigint, kinds: readonly AllocationKind[]): Status {
  const { device, process } = call;
  if (address === 0n) return 0;
  forbidUnsafe(call);
  const found = process.allocations.at(address);
  if (found === null) {
    const around = process.allocations.find(address);
    invalid(
      around === null ? "the memory is not in use: it was freed, or never allocated" : "no allocation begins there",
    );
  }
  if (!kinds.includes(found.kind)) invalid(`the memory is ${found.kind} memory, which is freed by another call`);
  relyOn(call, (order) => order.allEnded());
  return waitFor(call, device.streams.ended(), () => {
    if (found.kind !== "device") call.protect(address, found.bytes, "close");
    process.allocations.giveBack(found);
    return process.error;
  });
}

/** What a stretch of bytes is copied from and to. */
interface Copy {
  readonly to: bigint;
  readonly from: bigint;
  readonly bytes: number;
  readonly kind: number;
}

/**
 * Copies in the order of a stream. What the program's own memory holds is taken before the call returns, and what goes
 * there is there when it returns; otherwise an asynchronous copy does not wait.
 */
export function copy(
  call: Call,
  { to, from, bytes, kind }: Copy,
  stream = call.defaultStream,
  isAsync = false,
): Status {
  const { process } = call;
  require(Number.isInteger(kind) && kind >= 0 && kind <= 4, errors.invalidMemcpyDirection);
  void call.device;
  if (bytes === 0) return isAsync ? 0 : settle(call, null);
  const work = linearWork(process, { to, from, bytes, kind });
  let isInCall = true;
  const run = (): void => {
    if (!isInCall || !leaveToProgram(call, work.places, bytes)) work.run();
  };
  const status = move(call, { ...work, run }, { stream, isAsync });
  isInCall = false;
  return status;
}

/** Copies that are no smaller are quicker in the program, which need not be asked for its memory page by page. */
const leastForProgram = 1 << 17;

/**
 * Lets the program itself copy between its memory and the device's before its call returns. Nothing that comes after
 * the copy can be asked for sooner: whoever knows of it knows that from the call. Only while that call is taken, so
 * that nothing has waited for the copy. Returns whether it does.
 */
function leaveToProgram({ process, items }: Call, [to, from]: readonly [Place, Place], bytes: number): boolean {
  if (bytes < leastForProgram || process.options.checksCalls) return false;
  const data = (offset: number): Uint8Array => new Bytes(16).u64(0, offset).u64(8, bytes).data;
  if (to.kind === "device" && from.kind === "host") {
    items.push({ kind: itemKind.upload, address: from.address, data: data(to.offset) });
    noteCopied(process, to, bytes);
    return true;
  }
  if (to.kind !== "host" || from.kind !== "device") return false;
  items.push({ kind: itemKind.download, address: to.address, data: data(from.offset) });
  return true;
}

/** A copy of bytes that follow each other as work. Throws if it is not possible. */
export function linearWork(process: CudaProcess, { to, from, bytes, kind }: Copy): CopyWork {
  require(to !== 0n && from !== 0n);
  const target = placeOf(process, to, bytes);
  const source = placeOf(process, from, bytes);
  checkDirection(process, kind, target, source);
  const run = (): void => copyBytes(process, target, source, bytes);
  const line = (address: bigint): Region => ({ address, pitch: bytes, rows: 1 });
  const params = (): Uint8Array => copyParams(line(to), line(from), { width: bytes, height: 1, depth: 1 }, kind);
  return { places: [target, source], run, params, bytes };
}

/** Where in the order of all work a copy stands, and whether the call that wants it is asynchronous. */
export interface Order {
  readonly stream: Stream;
  readonly isAsync: boolean;
}

/** A copy: its ends, what does it, and its parameters as a node of a graph has them. */
export interface CopyWork {
  /** Where it goes to, and where it comes from. */
  readonly places: readonly [Place, Place];
  /** The size of both, if they are one stretch each. */
  readonly bytes?: number;
  readonly run: () => void;
  readonly params: () => Uint8Array;
}

/** A copy as a task. `failed` gets the error, as a task must not throw. */
export function copyWork(
  process: CudaProcess,
  { places, run, params }: Pick<CopyWork, "places" | "run" | "params">,
  failed: (code: number) => void,
): CopyTask {
  return copyTask({ params, ofHost: [isOfHost(places[0]), isOfHost(places[1])] }, () => {
    if (process.error !== 0) return;
    try {
      for (const place of places) checkInUse(process, place);
      run();
    } catch (error) {
      if (!(error instanceof CudaError)) throw error;
      if (error.reason !== null) process.misuse(error.reason);
      failed(error.code);
    }
  });
}

/** Does a copy in its turn. What goes wrong when no caller waits, as in a graph, makes the context unusable. */
export function move(call: Call, { places, run, params, bytes = 0 }: CopyWork, { stream, isAsync }: Order): Status {
  const { process } = call;
  const isCaptured = stream.capture !== null;
  let problem = 0;
  const waits = !isAsync || places.some(isPageable);
  const task = copyWork(process, { places, run, params }, (code) => {
    problem = code;
    if (isCaptured || !waits) process.break(code);
  });
  const operation = enqueue(call, stream, task);
  if (!waits) closeForCopy(call, operation, places, bytes);
  if (!waits || operation === null) return 0;
  relyOn(call, (order) => order.operationEnded(operation));
  if (!isAsync) call.showsOutput = true;
  return waitFor(call, operation.ended(), () => problem || process.error);
}

/** Ends a call that waits for what is before it in its stream. */
function settle(call: Call, waiting: Promise<void> | null): Status {
  call.showsOutput = true;
  return waitFor(call, waiting, () => call.process.error);
}

/** Fills device memory in its turn. */
export function fill(call: Call, what: Fill, stream = call.defaultStream): Status {
  const { process } = call;
  void call.device;
  if (isEmpty(what.extent)) return 0;
  const task = fillOf(process, what);
  enqueue(call, stream, task);
  return 0;
}

/** A fill as work. Throws if the memory is not there. */
export function fillOf(process: CudaProcess, what: Fill): FillTask {
  const { region, extent } = what;
  const isOneRow = extent.height * extent.depth === 1;
  require(extent.width <= region.pitch || isOneRow);
  const place = placeOfRegion(process, isOneRow ? { ...region, pitch: extent.width } : region, extent);
  require(place.kind === "device");
  return fillTask(what, () => {
    if (process.error !== 0) return;
    try {
      checkInUse(process, place);
      fillRows(process, place, what);
    } catch (error) {
      if (!(error instanceof CudaError)) throw error;
      if (error.reason !== null) process.misuse(error.reason);
      process.break(error.code);
    }
  });
}

/** A fill of bytes that follow each other. */
const bytesAt = (address: bigint, value: number, width: number): Fill => ({
  region: { address, pitch: width, rows: 1 },
  extent: { width, height: 1, depth: 1 },
  value,
  elementBytes: 1,
});

/** The memory in which an address lies, variables of modules included; null if there is none. */
export function memoryAround({ process }: Call, address: bigint): Allocation | null {
  const { allocations } = process;
  const found = allocations.find(address) ?? allocations.registeredAround(address);
  const offset = offsetOf(address);
  if (found !== null || offset === null) return found;
  const variable = process.machine.memory.find(offset);
  if (variable === null || variable.freed) return null;
  const isManaged = process.registry.isManaged(addressOf(variable.start));
  const place = { offset: variable.start, bytes: variable.end - variable.start, device: 0, flags: 0 };
  const host = isManaged ? addressOf(variable.start) : null;
  return { ...place, kind: isManaged ? "managed" : "device", host, call: "the program", stack: [] };
}

/** The attributes of an address, as cudaPointerGetAttributes gives them. */
function pointerAttributes(call: Call, address: bigint): Uint8Array {
  const found = memoryAround(call, address);
  const out = new Bytes(64);
  if (found === null) return out.u32(0, 0).u32(4, 0xffff_fffe).data;
  const types: Readonly<Record<AllocationKind, number>> = {
    device: 2,
    constant: 2,
    managed: 3,
    pinned: 1,
    registered: 1,
  };
  const inside = offsetOf(address) === null ? address - found.host! : address - addressOf(found.offset);
  const host = found.host === null ? 0n : found.host + inside;
  return out
    .u32(0, types[found.kind])
    .u32(4, found.device)
    .u64(8, addressOf(found.offset) + inside)
    .u64(16, host).data;
}

/** Copies between the memory of two devices, which have one range of addresses. */
function peerCopy(call: Call, stream?: ReturnType<Call["stream"]>): Status {
  const count = call.process.deviceCount;
  for (const device of [call.int(1), call.int(3)]) require(device >= 0 && device < count, errors.invalidDevice);
  const ends = { to: call.address(0), from: call.address(2), bytes: call.size(4), kind: 3 };
  return copy(call, ends, stream, stream !== undefined);
}

const setHostFlags = 0xf;

function hostAllocate(call: Call, bytes: number, flags: number): Status {
  const target = call.target(0);
  require((flags & ~setHostFlags) === 0);
  const address = allocate(call, "pinned", bytes, flags | 2);
  call.set64(target, address);
  return 0;
}

/** Memory that kernels see too at an address of the host; throws if there is none. */
function hostMemory(process: CudaProcess, address: bigint): Allocation {
  const found = process.allocations.registeredAround(address) ?? process.allocations.find(address);
  return found !== null && found.host !== null && found.kind !== "managed" ? found : fail(errors.invalidValue);
}

export const memoryCalls: Handlers = {
  cudaMalloc(call) {
    const target = call.target(0);
    call.set64(target, allocate(call, "device", call.size(1)));
    return 0;
  },
  cudaMallocPitch(call) {
    const [target, pitchTarget] = [call.target(0), call.target(1)];
    const pitch = pitchOf(call.size(2));
    call.set64(target, allocate(call, "device", pitch * call.size(3)));
    call.set64(pitchTarget, pitch);
    return 0;
  },
  cudaMallocHost: (call) => hostAllocate(call, call.size(1), 0),
  cudaHostAlloc: (call) => hostAllocate(call, call.size(1), call.uint(2)),
  cudaMallocManaged(call) {
    const target = call.target(0);
    const flags = call.uint(2);
    require(flags === 1 || flags === 2);
    require(call.size(1) > 0);
    call.set64(target, allocate(call, "managed", call.size(1), flags));
    return 0;
  },
  cudaFree: (call) => release(call, call.address(0), ["device", "managed"]),
  cudaFreeHost: (call) => release(call, call.address(0), ["pinned"]),
  cudaMemcpy: (call) =>
    copy(call, { to: call.address(0), from: call.address(1), bytes: call.size(2), kind: call.int(3) }),
  cudaMemcpyAsync: (call) =>
    copy(
      call,
      { to: call.address(0), from: call.address(1), bytes: call.size(2), kind: call.int(3) },
      call.stream(4),
      true,
    ),
  cudaMemset: (call) => fill(call, bytesAt(call.address(0), call.int(1), call.size(2))),
  cudaMemsetAsync: (call) => fill(call, bytesAt(call.address(0), call.int(1), call.size(2)), call.stream(3)),
  /** dst, device, src, device, bytes, stream */
  cudaMemcpyPeer: (call) => peerCopy(call),
  cudaMemcpyPeerAsync: (call) => peerCopy(call, call.stream(5)),
  cudaMemGetInfo(call) {
    void call.device;
    call.set64(call.target(0), call.process.allocations.room);
    call.set64(call.target(1), totalMemory);
    return 0;
  },
  cudaPointerGetAttributes(call) {
    const target = call.target(0);
    void call.device;
    call.poke(target, pointerAttributes(call, call.address(1)).subarray(0, 24));
    return 0;
  },
  cudaHostGetDevicePointer(call) {
    void call.device;
    const target = call.target(0);
    require(call.uint(2) === 0);
    const address = call.address(1);
    const found = hostMemory(call.process, address);
    call.set64(target, addressOf(found.offset) + (address - found.host!));
    return 0;
  },
  cudaHostRegister(call) {
    const { device, process } = call;
    const [address, bytes, flags] = [call.target(0), call.size(1), call.uint(2)];
    require(bytes > 0 && (flags & ~0xf) === 0);
    require(offsetOf(address) === null);
    call.host.read(address + BigInt(bytes - 1), 1);
    const { pages } = process.allocations.register(address, bytes, { device: device.number, flags });
    const isNew = pages!.users.size === 1;
    if (isNew) call.item(itemKind.adopt, pages!.host, new Bytes(16).u64(0, pages!.offset).u64(8, pages!.bytes).data);
    return 0;
  },
  cudaHostUnregister(call) {
    const { device, process } = call;
    const address = call.target(0);
    const found = process.allocations.registeredAt(address);
    if (found === null) {
      const around = process.allocations.registeredAround(address) ?? process.allocations.find(address);
      return fail(around === null ? errors.hostMemoryNotRegistered : errors.invalidValue);
    }
    return waitFor(call, device.streams.ended(), () => {
      const pages = found.pages!;
      process.allocations.free(found);
      if (pages.users.size === 0) call.item(itemKind.giveBack, pages.host, new Bytes(8).u64(0, pages.bytes).data);
      return process.error;
    });
  },
  cudaHostGetFlags(call) {
    void call.device;
    call.set32(call.target(0), hostMemory(call.process, call.address(1)).flags);
    return 0;
  },
};
