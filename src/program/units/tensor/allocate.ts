import type { UnitOpOf } from "../../../ir/index.ts";
import { lanesIn } from "../../../ir/lane-mask.ts";
import { Fault } from "../../../machine/faults/fault.ts";
import { stackOf } from "../../../machine/faults/report-sink.ts";
import { kernelFrame } from "../../../machine/state/call-frame.ts";
import type { Cta } from "../../../machine/state/launch-state.ts";
import { signal } from "../mbarrier.ts";
import type { UnitCall } from "../unit-call.ts";
import { sameWord } from "./access.ts";
import { memoryOf, peerHasExited, peerOf } from "./blocks.ts";
import { tensorFault } from "./fault.ts";
import {
  columnUnit,
  freeColumns,
  tensorAddress,
  type TensorAllocator,
  tensorColumns,
  tensorLanes,
  type TensorMemory,
} from "./tensor-memory.ts";

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

/** The result of an operation for which the warp has to wait. */
const waits = -1;

/** Gives a result in all lanes. If it says that the warp has to wait, others run until something has changed. */
function give(call: UnitCall, result: number): void {
  const { site, lanes, x } = call;
  if (result === waits) {
    x.warp.polled |= lanes;
    x.warp.pollSite = site;
  }
  for (const lane of lanesIn(lanes)) call.give(0, lane, result);
}

/** Allocates columns for the block, or for both of a pair. Gives their address, or -1 where the warp has to wait. */
export function allocateTensor({ pair }: UnitOpOf<"tensor-alloc">, call: UnitCall): void {
  const columns = columnsIn(call, 0);
  const { site, lanes, x } = call;
  const { cta } = x.warp;
  const memory = memoryOf(cta);
  if (memory.relinquished) {
    throw tensorFault(call, "tcgen05-no-permit", "the block has given up the right to allocate tensor memory", {
      help: "tcgen05.relinquish_alloc_permit comes after the last allocation",
    });
  }
  const by = { site, lanes, warp: x.warp, stack: stackOf(site, x) };
  give(call, (pair ? allocateInPair(call, columns, by) : memory.allocate(columns, by)) ?? waits);
}

/**
 * The column that both blocks of a pair have allocated, or null. Each first request of one block meets that of the
 * other.
 */
function allocateInPair(call: UnitCall, columns: number, by: TensorAllocator): number | null {
  const { warp } = call.x;
  const memory = memoryOf(warp.cta);
  const peer = peerOf(call);
  let own = memory.requests.find((one) => one.warp === warp);
  if (own === undefined) memory.requests = [...memory.requests, (own = { warp, columns, by, granted: null })];
  if (own.granted === null) {
    if (peer === null) throw peerHasExited(call);
    meet(call, peer);
  }
  if (own.granted !== null) memory.requests = memory.requests.filter((one) => one !== own);
  return own.granted;
}

/** Allocates for the first requests of both blocks of a pair, if there are columns that are free in both. */
function meet(call: UnitCall, peer: Cta): void {
  const { cta } = call.x.warp;
  const memories = [cta, peer].map(memoryOf);
  const [own, other] = memories.map(({ requests }) => requests.find(({ granted }) => granted === null));
  if (own === undefined || other === undefined) return;
  if (own.columns !== other.columns) {
    const message = `the blocks of the pair give different numbers of columns: ${own.columns}, and ${other.columns} in that of rank ${peer.rank}`;
    throw tensorFault(call, "tcgen05-divergent-operand", message);
  }
  const column = freeColumns(memories, own.columns);
  if (column === null) return;
  [own, other].forEach((one, i) => {
    one.granted = column;
    memories[i]!.take(column, one.columns, one.by);
  });
  peer.signalled = true;
  cta.signalled = true;
}

/**
 * Frees columns that the block has allocated. For a pair each block frees its own, and gives -1 where the warp has to
 * wait for the other, which it may (section 9.7.16.7.1): it does so where effects come late.
 */
export function freeTensor({ pair }: UnitOpOf<"tensor-dealloc">, call: UnitCall): void {
  const address = sameWord(call, 0, "addresses");
  const columns = columnsIn(call, 1);
  const { warp } = call.x;
  const memory = memoryOf(warp.cta);
  if (!memory.freeing.includes(warp)) free(call, address, columns);
  else memory.freeing = memory.freeing.filter((one) => one !== warp);
  if (!pair) return;
  const peer = peerOf(call);
  const { column } = tensorAddress(address);
  const isOver =
    !warp.cta.units.late ||
    peer === null ||
    !memoryOf(peer).allocations.some((one) => one.column === column && one.columns === columns);
  if (!isOver) memory.freeing = [...memory.freeing, warp];
  give(call, isOver ? 0 : waits);
}

function free(call: UnitCall, address: number, columns: number): void {
  const { lane, column } = tensorAddress(address);
  const { cta } = call.x.warp;
  const memory = memoryOf(cta);
  if (lane === 0 && memory.free(column, columns)) {
    signal(cta);
    call.touch(call.lanes, "store", { lane: 0, lanes: tensorLanes, column, columns }, cta);
    return;
  }
  const notes = memory.allocations.map((one) => `${one.columns} columns are allocated at address ${one.column}`);
  const message = `no ${columns} columns were allocated at address 0x${(address >>> 0).toString(16)}, or they are free again`;
  throw tensorFault(call, "tcgen05-bad-dealloc", message, { notes });
}

/** The block allocates no more. */
export function relinquishTensor({ pair }: UnitOpOf<"tensor-relinquish">, call: UnitCall): void {
  // Each block of a pair gives up its own right; the operation need not wait.
  if (pair) peerOf(call);
  memoryOf(call.x.warp.cta).relinquished = true;
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
