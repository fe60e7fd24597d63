import { errors, fail, require } from "../../base/errors.ts";
import { offsetOf } from "../../base/addresses.ts";
import type { Allocation } from "../../state/allocations.ts";
import { placeOf } from "../../run/copies.ts";
import type { Stream } from "../../work/stream.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { enqueue } from "../order.ts";
import { inContext } from "./driver-call.ts";

/** How a value in memory is compared: flags of CUstreamWaitValue. */
const comparison = { mask: 3, notLess: 0, equal: 1, and: 2, nor: 3 } as const;

/** Kinds of operations by number: CUstreamBatchMemOpType. */
const kind = { wait32: 1, write32: 2, flush: 3, wait64: 4, write64: 5, barrier: 6 } as const;

/** A value of 4 or 8 bytes in memory, and what is done with it. */
interface Operation {
  readonly address: bigint;
  readonly value: bigint;
  readonly bits: 32 | 64;
  readonly flags: number;
}

/** The bytes of device memory at an address, and its allocation. Throws if the device cannot see it. */
function placeIn(
  call: Call,
  { address, bits }: Operation,
): { readonly offset: number; readonly in: Allocation | null } {
  require(address % BigInt(bits / 8) === 0n);
  const place = placeOf(call.process, address, bits / 8);
  if (place.kind !== "device") return fail(errors.invalidValue);
  return { offset: place.offset, in: call.process.allocations.find(address) };
}

function holds({ value, bits, flags }: Operation, now: bigint): boolean {
  switch (flags & comparison.mask) {
    case comparison.notLess:
      // The difference goes round, and its sign decides.
      return BigInt.asIntN(bits, now - value) >= 0n;
    case comparison.equal:
      return now === value;
    case comparison.and:
      return (now & value) !== 0n;
    default:
      return BigInt.asUintN(bits, ~(now | value)) !== 0n;
  }
}

/** Lets what follows in the stream wait until the value is what it is to be: kernels and the host may write it. */
function waitFor(call: Call, stream: Stream, operation: Operation): void {
  const { offset } = placeIn(call, operation);
  const { process } = call;
  const now = (): bigint => {
    const { i32 } = process.machine.memory.views;
    const low = BigInt(i32[offset >>> 2]! >>> 0);
    return operation.bits === 32 ? low : low | (BigInt(i32[(offset >>> 2) + 1]! >>> 0) << 32n);
  };
  enqueue(call, stream, () => (holds(operation, now()) ? undefined : process.poll(() => holds(operation, now()))));
}

function write(call: Call, stream: Stream, operation: Operation): void {
  const { offset, in: allocation } = placeIn(call, operation);
  const { process } = call;
  enqueue(call, stream, () => {
    const { i32 } = process.machine.memory.views;
    i32[offset >>> 2] = Number(BigInt.asIntN(32, operation.value));
    if (operation.bits === 64) i32[(offset >>> 2) + 1] = Number(BigInt.asIntN(32, operation.value >> 32n));
    process.machine.memory.noteWritten(offset, operation.bits / 8);
    allocation?.written?.();
  });
}

/** stream, address, value, flags */
const single =
  (what: typeof waitFor, bits: 32 | 64): Handler =>
  (call) => {
    require(offsetOf(call.address(1)) !== null || call.process.allocations.registeredAround(call.address(1)) !== null);
    const value = BigInt.asUintN(bits, call.address(2));
    what(call, call.stream(0), { address: call.address(1), value, bits, flags: call.uint(3) });
    return 0;
  };

const paramsBytes = 48;

/** stream, count, operations, flags */
function batch(call: Call): Status {
  const stream = call.stream(0);
  const count = call.uint(1);
  require(count <= 256 && call.uint(3) === 0);
  for (let i = 0; i < count; i++) {
    const view = call.host.view(call.target(2) + BigInt(paramsBytes * i), paramsBytes);
    const type = view.getUint32(0, true);
    if (type === kind.flush || type === kind.barrier) continue;
    const bits = type === kind.wait64 || type === kind.write64 ? 64 : 32;
    const value = BigInt.asUintN(bits, view.getBigUint64(16, true));
    const operation: Operation = { address: view.getBigUint64(8, true), value, bits, flags: view.getUint32(24, true) };
    if (type === kind.wait32 || type === kind.wait64) waitFor(call, stream, operation);
    else if (type === kind.write32 || type === kind.write64) write(call, stream, operation);
    else fail(errors.invalidValue);
  }
  return 0;
}

export const memoryOperationCalls: Handlers = Object.fromEntries(
  Object.entries({
    cuStreamWaitValue32: single(waitFor, 32),
    cuStreamWaitValue64: single(waitFor, 64),
    cuStreamWriteValue32: single(write, 32),
    cuStreamWriteValue64: single(write, 64),
    cuStreamBatchMemOp: batch,
  }).flatMap(([name, handler]): [string, Handler][] => [
    [name, inContext(handler)],
    [`${name}_v2`, inContext(handler)],
  ]),
);
