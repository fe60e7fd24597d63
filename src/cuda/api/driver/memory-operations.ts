import { errors, fail, require } from "../../base/errors.ts";
import { offsetOf } from "../../base/addresses.ts";
import type { Allocation } from "../../state/allocations.ts";
import { placeOf } from "../../run/copies.ts";
import { type BatchTask, batchTask } from "../../run/tasks.ts";
import { nodeType, type Task } from "../../work/graph.ts";
import { Bytes, type Call, type Handler, type Handlers, type Status } from "../call.ts";
import { formCalls } from "../graphs/nodes.ts";
import type { ParamsForm } from "../graphs/params.ts";
import { enqueue } from "../order.ts";
import { currentContext, inContext } from "./driver-call.ts";

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

/** Does an operation in its turn. */
type Work = Task["run"];

/** Lets what follows in the stream wait until the value is what it is to be: kernels and the host may write it. */
function waitFor(call: Call, operation: Operation): Work {
  const { offset } = placeIn(call, operation);
  const { process } = call;
  const now = (): bigint => {
    const { i32 } = process.machine.memory.views;
    const low = BigInt(i32[offset >>> 2]! >>> 0);
    return operation.bits === 32 ? low : low | (BigInt(i32[(offset >>> 2) + 1]! >>> 0) << 32n);
  };
  return () => (holds(operation, now()) ? undefined : process.poll(() => holds(operation, now())));
}

function write(call: Call, operation: Operation): Work {
  const { offset, in: allocation } = placeIn(call, operation);
  const { process } = call;
  return () => {
    const { i32 } = process.machine.memory.views;
    i32[offset >>> 2] = Number(BigInt.asIntN(32, operation.value));
    if (operation.bits === 64) i32[(offset >>> 2) + 1] = Number(BigInt.asIntN(32, operation.value >> 32n));
    process.machine.memory.noteWritten(offset, operation.bits / 8);
    allocation?.written?.();
  };
}

const paramsBytes = 48;

/** A CUstreamBatchMemOpParams. */
const paramsOf = (type: number, { address, value, flags }: Omit<Operation, "bits">): Uint8Array =>
  new Bytes(paramsBytes).u32(0, type).u64(8, address).u64(16, value).u32(24, flags).data;

/** What an operation does; null if there is nothing to be done. Throws if it is none. */
function workOf(call: Call, params: DataView): Work | null {
  const type = params.getUint32(0, true);
  if (type === kind.flush || type === kind.barrier) return null;
  const bits = type === kind.wait64 || type === kind.write64 ? 64 : 32;
  const value = BigInt.asUintN(bits, params.getBigUint64(16, true));
  const operation = { address: params.getBigUint64(8, true), value, bits, flags: params.getUint32(24, true) } as const;
  if (type === kind.wait32 || type === kind.wait64) return waitFor(call, operation);
  if (type === kind.write32 || type === kind.write64) return write(call, operation);
  return fail(errors.invalidValue);
}

/** Operations that follow each other, as one task. */
function operations(call: Call, params: Uint8Array, flags: number): BatchTask {
  const { process } = call;
  const works = Array.from({ length: params.length / paramsBytes }, (_, i) =>
    workOf(call, new DataView(params.buffer, params.byteOffset + paramsBytes * i, paramsBytes)),
  ).filter((work) => work !== null);
  const run = async (): Promise<void> => {
    for (const work of works) if (process.error === 0) await work();
  };
  return batchTask({ params, flags }, works.length === 1 ? works[0]! : run);
}

/** stream, address, value, flags */
const single =
  (type: number): Handler =>
  (call) => {
    const address = call.address(1);
    require(offsetOf(address) !== null || call.process.allocations.registeredAround(address) !== null);
    const params = paramsOf(type, { address, value: call.address(2), flags: call.uint(3) });
    enqueue(call, call.stream(0), operations(call, params, 0));
    return 0;
  };

const mostOperations = 256;

/** stream, count, operations, flags */
function batch(call: Call): Status {
  const stream = call.stream(0);
  const count = call.uint(1);
  require(count <= mostOperations && call.uint(3) === 0);
  if (count > 0) enqueue(call, stream, operations(call, call.host.read(call.target(2), count * paramsBytes), 0));
  return 0;
}

/** CUDA_BATCH_MEM_OP_NODE_PARAMS: context, count, operations, flags. */
const batchForm: ParamsForm<BatchTask> = {
  bytes: 32,
  read(call, view) {
    const [count, list, flags] = [view.getUint32(8, true), view.getBigUint64(16, true), view.getUint32(24, true)];
    require(count > 0 && count <= mostOperations && list !== 0n && flags === 0);
    return operations(call, call.host.read(list, count * paramsBytes), flags);
  },
  write: (call, { params, flags }) =>
    new Bytes(32)
      .u64(0, currentContext(call)?.handle ?? 0n)
      .u32(8, params.length / paramsBytes)
      .u64(16, call.kept(params))
      .u32(24, flags).data,
  is: (task): task is BatchTask => task.type === nodeType.operations,
};

const inContextAll = (calls: Handlers): [string, Handler][] =>
  Object.entries(calls).map(([name, handler]) => [name, inContext(handler)]);

export const memoryOperationCalls: Handlers = Object.fromEntries([
  ...inContextAll({
    cuStreamWaitValue32: single(kind.wait32),
    cuStreamWaitValue64: single(kind.wait64),
    cuStreamWriteValue32: single(kind.write32),
    cuStreamWriteValue64: single(kind.write64),
    cuStreamBatchMemOp: batch,
  }).flatMap(([name, handler]): [string, Handler][] => [
    [name, handler],
    [`${name}_v2`, handler],
  ]),
  ...inContextAll(formCalls("cuGraph", "BatchMemOp", batchForm)),
]);
