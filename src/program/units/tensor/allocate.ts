import { lanesIn } from "../../../ir/lane-mask.ts";
import { Fault } from "../../../machine/faults/fault.ts";
import { stackOf } from "../../../machine/faults/report-sink.ts";
import { kernelFrame } from "../../../machine/state/call-frame.ts";
import type { UnitCall } from "../unit-call.ts";
import { sameWord, tensorFault, tensorMemoryOf } from "./access.ts";
import { columnUnit, tensorAddress, tensorColumns, tensorLanes, type TensorMemory } from "./tensor-memory.ts";

/**
 * The number of columns in an operand (section 9.7.16.7.1).
 *
 * @throws Fault if it is not a power of two from 32 to 512
 */
function columnsIn(call: UnitCall, n: number): number {
  const columns = sameWord(call, n, "numbers of columns") >>> 0;
  if (columns >= columnUnit && columns <= tensorColumns && (columns & (columns - 1)) === 0) return columns;
  throw tensorFault(call, "tcgen05-bad-columns", `the number of columns is ${columns}`, {
    help: "it must be a power of two from 32 to 512",
  });
}

/** What is in place of an address where no columns are free. */
const noColumns = -1;

/** Allocates columns for the block. Gives their address, or -1 if none are free: then the warp waits. */
export function allocateTensor(call: UnitCall): void {
  const columns = columnsIn(call, 0);
  const memory = tensorMemoryOf(call);
  if (memory.relinquished) {
    throw tensorFault(call, "tcgen05-no-permit", "the block has given up the right to allocate tensor memory", {
      help: "tcgen05.relinquish_alloc_permit comes after the last allocation",
    });
  }
  const { site, lanes, x } = call;
  const allocation = memory.allocate(columns, { site, lanes, warp: x.warp, stack: stackOf(site, x) });
  if (allocation === null) {
    x.warp.polled |= lanes;
    x.warp.pollSite = site;
  }
  for (const lane of lanesIn(lanes)) call.give(0, lane, allocation?.column ?? noColumns);
}

/** Frees columns that the block has allocated. */
export function freeTensor(call: UnitCall): void {
  const address = sameWord(call, 0, "addresses");
  const columns = columnsIn(call, 1);
  const { lane, column } = tensorAddress(address);
  const memory = tensorMemoryOf(call);
  if (lane === 0 && memory.free(column, columns)) {
    call.x.warp.cta.signalled = true;
    call.touch(call.lanes, "store", { lane: 0, lanes: tensorLanes, column, columns });
    return;
  }
  const notes = memory.allocations.map((one) => `${one.columns} columns are allocated at address ${one.column}`);
  const message = `no ${columns} columns were allocated at address 0x${(address >>> 0).toString(16)}, or they are free again`;
  throw tensorFault(call, "tcgen05-bad-dealloc", message, { notes });
}

/** The block allocates no more. */
export function relinquishTensor(call: UnitCall): void {
  tensorMemoryOf(call).relinquished = true;
}

/**
 * Checks that a block that ends has freed its columns.
 *
 * @throws Fault at the first allocation that it has not freed
 */
export function checkFreed({ allocations }: TensorMemory): void {
  const [first] = allocations;
  if (first === undefined) return;
  const { site, warp, lanes, stack } = first.by;
  const columns = allocations.reduce((sum, one) => sum + one.columns, 0);
  const at = { site, activation: kernelFrame(site.code, warp), lanes };
  throw new Fault("tcgen05-not-freed", `the block ends with ${columns} columns of tensor memory still allocated`, at, {
    help: "free them with tcgen05.dealloc before the kernel exits",
    stack,
  });
}
