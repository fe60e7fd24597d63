import { CudaError, errors, invalid, require } from "../base/errors.ts";
import type { ProcessState } from "../state/process-state.ts";
import { offsetOf } from "../base/addresses.ts";
import type { Allocation } from "../state/allocations.ts";

/** One end of a copy: bytes of device memory, which pinned and managed memory are too, or of the program's own. */
export type Place =
  | { readonly kind: "device"; readonly offset: number; readonly allocation: Allocation | null }
  | { readonly kind: "host"; readonly address: bigint };

/** Kinds of copies as programs name them. */
const copyKind = { hostToHost: 0, hostToDevice: 1, deviceToHost: 2, deviceToDevice: 3, byAddress: 4 } as const;

const directions = ["host to host", "host to device", "device to host", "device to device"] as const;

/** Finds the bytes from an address on. Throws if device memory does not have all of them. */
export function placeOf(process: ProcessState, address: bigint, bytes: number): Place {
  const offset = offsetOf(address);
  if (offset === null) {
    const registered = process.isActive ? process.allocations.registeredAround(address) : null;
    // What reaches beyond it counts as the program's own.
    const isInside = registered !== null && address + BigInt(bytes) <= registered.host! + BigInt(registered.bytes);
    if (registered === null || !isInside) return { kind: "host", address };
    return { kind: "device", offset: registered.offset + Number(address - registered.host!), allocation: registered };
  }
  const found = process.machine.memory.find(offset);
  if (found === null) invalid(`0x${address.toString(16)} is no address of device memory that is in use`);
  if (found.freed) invalid(`0x${address.toString(16)} is in ${found.name}, which was freed`);
  const past = offset + bytes - found.end;
  if (past > 0) invalid(`${bytes} bytes from 0x${address.toString(16)} on reach ${past} bytes past ${found.name}`);
  const allocation = process.allocations.find(address);
  if (allocation?.owner?.covers?.(offset, bytes) === false) {
    invalid(`no memory is mapped at all ${bytes} bytes from 0x${address.toString(16)} on`);
  }
  return { kind: "device", offset, allocation };
}

/**
 * Throws if a copy in this direction cannot have such ends. Device memory as the host's end of a copy to or from the
 * device is copied as on a GPU, whose driver goes by addresses; it is a mistake all the same.
 */
export function checkDirection(process: ProcessState, kind: number, to: Place, from: Place): void {
  require(Number.isInteger(kind) && kind >= 0 && kind <= 4, errors.invalidMemcpyDirection);
  if (kind === copyKind.byAddress) return;
  const saysToDevice = kind === copyKind.hostToDevice || kind === copyKind.deviceToDevice;
  const saysFromDevice = kind === copyKind.deviceToHost || kind === copyKind.deviceToDevice;
  const told = (end: string): string => `the copy is said to be ${directions[kind]}, and its ${end} is not`;
  const check = (place: Place, saysDevice: boolean, end: string): void => {
    if (saysDevice ? place.kind === "device" : place.kind === "host" || place.allocation?.kind !== "device") return;
    if (saysDevice || kind === copyKind.hostToHost) invalid(told(end));
    if (process.options.checksCalls) process.misuse(told(end));
  };
  check(to, saysToDevice, "destination");
  check(from, saysFromDevice, "source");
}

/** Whether a place is memory of the host for CUDA: its own, or pinned. */
export const isOfHost = (place: Place): boolean =>
  place.kind === "host" || place.allocation?.kind === "pinned" || place.allocation?.kind === "registered";

/** Whether the program's own memory takes part, which only the program keeps as it is. */
export const isPageable = (place: Place): boolean => place.kind === "host";

/** Copies bytes now. Throws invalidValue where the program's memory is not mapped. */
export function copyBytes(process: ProcessState, to: Place, from: Place, bytes: number): void {
  if (bytes === 0) return;
  const { host } = process;
  if (to.kind === "host" && from.kind === "host") {
    host.write(to.address, host.read(from.address, bytes));
    return;
  }
  const { u8 } = process.machine.memory.views;
  if (to.kind === "host") {
    if (from.kind === "device") host.write(to.address, u8.subarray(from.offset, from.offset + bytes));
    return;
  }
  if (from.kind === "host") host.readInto(from.address, u8.subarray(to.offset, to.offset + bytes));
  else u8.copyWithin(to.offset, from.offset, from.offset + bytes);
  noteCopied(process, to, bytes);
}

/** Notes that bytes have been copied, or are about to be, to device memory. */
export function noteCopied(process: ProcessState, to: Extract<Place, { kind: "device" }>, bytes: number): void {
  process.machine.memory.noteWritten(to.offset, bytes);
  to.allocation?.written?.();
}

/** Throws if the memory of a place has been freed since it was found: a node of a graph may run much later. */
export function checkInUse(process: ProcessState, place: Place): void {
  if (place.kind !== "device" || place.allocation === null) return;
  const { allocation } = place;
  if (process.allocations.has(allocation)) return;
  const what = `the ${allocation.bytes} bytes that ${allocation.call} has given`;
  throw new CudaError(errors.illegalAddress, `a copy or fill uses ${what}, which were freed before its turn came`);
}

/** Moves a place by some bytes. */
export const advanced = (place: Place, bytes: number): Place =>
  place.kind === "host"
    ? { kind: "host", address: place.address + BigInt(bytes) }
    : { ...place, offset: place.offset + bytes };
