import { Fault } from "../../machine/faults/fault.ts";
import { stackOf, threadOf } from "../../machine/faults/report-sink.ts";
import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";

/** `void *malloc(size_t size)` returns null if the memory is exhausted, or the heap of device code. */
export const malloc: ExternalFunction = (call) => {
  const { heap } = call.x.warp.cta.grid.memory;
  const size = call.args[0]!;
  return size > heap.limit - heap.bytes ? 0n : takeFromHeap(call, size);
};

/** Gives a lane memory of the device's heap, which `free` takes back: its address, or null if it is exhausted. */
export function takeFromHeap(call: ExternalCall, size: bigint): bigint {
  const { memory, addresses } = call.x.warp.cta.grid;
  const address = takeForGood(call, size);
  if (address !== 0n) memory.heap.add(Number(address - addresses.global(0)), Number(size));
  return address;
}

/** The same for memory that stays as long as the device. */
export function takeForGood({ x, lane, site }: ExternalCall, size: bigint): bigint {
  const { memory, addresses, id: launch, kernel } = x.warp.cta.grid;
  if (size > 0xffff_ffffn) return 0n;
  try {
    // The origin is needed only by the sanitizer that keeps freed memory.
    const stack = memory.quarantine ? stackOf(site, x) : [];
    const { code, instruction } = site;
    const origin = { launch, kernel, function: code.ir, instruction, thread: threadOf(x, lane), stack };
    return addresses.global(memory.alloc(Number(size), `the ${size} bytes that malloc gave`, { origin }));
  } catch (error) {
    if (error instanceof RangeError) return 0n;
    throw error;
  }
}

/** `void free(void *ptr)` accepts null. */
export const free: ExternalFunction = ({ x, lane, site, args: [pointer = 0n] }) => {
  if (pointer === 0n) return 0n;
  const { memory, addresses } = x.warp.cta.grid;
  const offset = Number(BigInt.asIntN(64, pointer - addresses.global(0)));
  if (memory.heap.delete(offset) && memory.free(offset)) return 0n;
  throw new Fault(
    "invalid-free",
    `free is given 0x${pointer.toString(16)}, which malloc did not give, or which has been freed`,
    { site, activation: x, lanes: 1 << lane },
    { help: "device code may free only what device code has allocated, and that once" },
  );
};
