import { addressOf, offsetOf } from "../base/addresses.ts";
import type { LaunchSpec } from "../run/kernel-launch.ts";
import type { Place } from "../run/copies.ts";
import type { Allocation } from "../state/allocations.ts";
import type { CudaProcess } from "../state/process.ts";
import type { HostOrder, Use } from "../work/host-order.ts";
import type { Operation } from "../work/operation.ts";
import type { Stream } from "../work/stream.ts";
import type { Call } from "./call.ts";

/*
 * Where calls are checked, memory that both the host and the device see is closed to the host from when an operation
 * that may access it is submitted until the host has waited for that operation. Accesses of the host in between come
 * here.
 */

const pageBytes = 4096;

/** Pages that lie wholly within a use. */
function pagesOf({ from, to }: Use): readonly [address: bigint, bytes: number] {
  const first = Math.ceil(from / pageBytes) * pageBytes;
  return [addressOf(first), Math.max(0, Math.floor(to / pageBytes) * pageBytes - first)];
}

function open(call: Call, use: Use): void {
  const [address, bytes] = pagesOf(use);
  if (bytes > 0) call.protect(address, bytes, "open");
}

/** Closes what is used, those that are only read first: pages of several uses end as the strictest wants them. */
function closeAll(call: Call, uses: readonly Use[]): void {
  for (const access of ["readOnly", "close"] as const) {
    for (const use of uses) {
      const [address, bytes] = pagesOf(use);
      if (bytes > 0 && use.writes === (access === "close")) call.protect(address, bytes, access);
    }
  }
}

/** Closes what an operation may access. */
function close(call: Call, operation: Operation, use: Use): void {
  const { hostOrder } = call.process;
  if (hostOrder === null) return;
  hostOrder.use(operation, use);
  closeAll(call, hostOrder.overlapping(use));
}

/**
 * Opens what is certainly no longer accessed when a call returns that has waited, except for what something else may
 * access. `ended` says what that is.
 */
export function relyOn(call: Call, ended: (order: HostOrder) => readonly Use[]): void {
  const { hostOrder } = call.process;
  if (hostOrder === null) return;
  const uses = ended(hostOrder);
  for (const use of uses) open(call, use);
  closeAll(call, [...new Set(uses.flatMap((use) => hostOrder.overlapping(use)))]);
}

/**
 * A launch may access the managed memory to which its arguments point. Managed variables are not watched. What belongs
 * to a device to which the kernel's own has no access is named: a card would not reach it.
 */
export function closeForLaunch(call: Call, operation: Operation | null, spec: LaunchSpec, stream: Stream): void {
  const { process } = call;
  if (process.hostOrder === null || operation === null) return;
  const { kernel, params } = spec;
  const view = new DataView(params.buffer, params.byteOffset, params.byteLength);
  const by = `the kernel \`${kernel.kernel.signature}\``;
  const used = new Set<number>();
  for (let at = 0; at + 8 <= params.length; at += 8) {
    const found = process.allocations.find(view.getBigUint64(at, true));
    if (found === null || used.has(found.offset)) continue;
    used.add(found.offset);
    checkPeer(process, stream.device, found, by);
    if (found.kind !== "managed") continue;
    close(call, operation, { from: found.offset, to: roundedUp(found.offset + found.bytes), by, writes: true });
  }
}

/** Memory of pools and mapped memory have access rights of their own. */
function checkPeer(process: CudaProcess, device: number, { kind, device: of, owner }: Allocation, by: string): void {
  if (kind !== "device" || owner !== undefined || of === device || process.device(device).peers.has(of)) return;
  process.misuse(
    `${by} on device ${device} is given memory of device ${of}, to which it has no access: cudaDeviceEnablePeerAccess gives it`,
  );
}

/** Managed and pinned memory begin on pages of their own, and the host sees nothing else in the last of them. */
const roundedUp = (end: number): number => Math.ceil(end / pageBytes) * pageBytes;

/** An asynchronous copy writes to pinned memory of the host, and reads it, when it wants. */
export function closeForCopy(
  call: Call,
  operation: Operation | null,
  [target, source]: readonly [Place, Place],
  bytes: number,
): void {
  if (call.process.hostOrder === null || operation === null) return;
  for (const place of [target, source]) {
    if (place.kind !== "device" || place.allocation?.kind !== "pinned") continue;
    const end = place.offset + bytes;
    const isWhole = end === place.allocation.offset + place.allocation.bytes;
    const to = isWhole ? roundedUp(end) : end;
    const use = { from: place.offset, to, by: "an asynchronous copy", writes: place === target };
    close(call, operation, use);
  }
}

/** An access of the program's own code to device memory that is closed to it. */
export interface HostFault {
  readonly address: bigint;
  readonly isWrite: boolean;
  /** Whether it is an atomic operation, which may meet those of kernels. */
  readonly isAtomic: boolean;
}

/** Names what is wrong with an access. Returns whether it can go on: the memory is open then. */
export function hostFault(call: Call, { address, isWrite, isAtomic }: HostFault): boolean {
  const { process } = call;
  const offset = offsetOf(address);
  if (offset === null || process.hostOrder === null) return false;
  const found = process.allocations.find(address);
  const accesses = isWrite ? "writes to" : "reads";
  const at = `0x${address.toString(16)}`;
  if (found === null || found.kind === "device" || found.kind === "constant") {
    process.misuse(`the program itself ${accesses} ${at}, ${whatIs(process, offset)}`);
    return false;
  }
  const use = process.hostOrder.useAt(offset, isWrite);
  if (use !== null && !isAtomic) {
    process.misuse(
      `the program ${accesses} ${at} in ${found.kind} memory, which ${use.by} may be using: nothing has waited for it`,
    );
  }
  process.hostOrder.forget(process.hostOrder.overlapping({ from: found.offset, to: found.offset + found.bytes }));
  call.protect(addressOf(found.offset), found.bytes, "open");
  return true;
}

function whatIs(process: CudaProcess, offset: number): string {
  const around = process.machine.memory.find(offset);
  if (around === null) return "where no memory is allocated";
  return around.freed
    ? `in ${around.name}, which was freed`
    : `in ${around.name}, which is device memory: only kernels and copies reach it`;
}
