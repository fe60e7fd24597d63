import { windows } from "../ir/index.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";
import type { ProgramFunction, Site } from "../machine/state/code.ts";
import type { CallFrame } from "../machine/state/launch-state.ts";

/** The offset at which a callee's frame begins in the lanes' stacks. */
export const frameStart = (caller: CallFrame, { frame }: ProgramFunction): number =>
  Math.ceil(caller.top / frame.align) * frame.align;

/** The offset at which the frame ends, given the size of its unsized formal. */
export const frameEnd = (start: number, { frame }: ProgramFunction, unsizedBytes: number): number =>
  start + frame.size + Math.ceil(unsizedBytes / 16) * 16;

/** The bytes that count against the stack limit while the callee runs. */
export const costWith = (caller: CallFrame, { stackCost }: ProgramFunction, unsizedBytes: number): number =>
  caller.cost + stackCost + unsizedBytes;

/** The stack pointer of a thread that has allocated nothing: the end of the window. Offsets are from its start. */
const emptyPointer = windows.local.end - windows.local.start;

/** Bytes between two allocations, so that an access past the end of one is not within another. */
const gapBytes = 16;

/** The largest alignment of an access in bytes: an allocation is as aligned in the lane's memory as its address is. */
const accessAlignment = 32;

/** A call of `alloca` in one lane. */
interface PieceRequest {
  readonly site: Site;
  readonly lane: number;
  readonly bytes: number;
  /** Values below 8 count as 8. */
  readonly align: number;
}

/**
 * Allocates bytes on a lane's stack and returns their address, which is the new stack pointer (section 9.7.17.3): it
 * goes down from the end of the window, while the bytes themselves lie after the frame in the lane's memory. Throws a
 * fault if the stack is full.
 */
export function takePiece(x: CallFrame, { site, lane, bytes, align }: PieceRequest): number {
  x.pointers ??= Int32Array.from({ length: 32 }, (_, l) => enteredWith(x, l));
  const unit = Math.max(align, 8);
  const start = Math.floor((x.pointers[lane]! - gapBytes - bytes) / unit) * unit;
  const cost = frameCost(x) + enteredWith(x, lane) - start;
  checkStack(x, site, 1 << lane, cost);
  const from = storageEnd(x, lane);
  const at = from + ((start - from) & (accessAlignment - 1));
  x.warp.stack.reserve(at + bytes);
  x.warp.stack.clear(at, at + bytes, 1 << lane);
  if (bytes > 0) (x.pieces ??= []).push({ lane, start, end: start + bytes, at });
  x.pointers[lane] = start;
  x.top = Math.max(x.top, at + bytes);
  x.cost = Math.max(x.cost, cost);
  return windows.local.start + start;
}

/** A lane's stack pointer, as an address. */
export const stackPointer = (x: CallFrame, lane: number): number => windows.local.start + pointerOf(x, lane);

/** Frees everything that a lane has allocated in this activation since its stack pointer was `address`. */
export function restoreStack(x: CallFrame, lane: number, address: number): void {
  const pointer = address - windows.local.start;
  if (x.pointers === null || pointer < x.pointers[lane]! || pointer > enteredWith(x, lane)) return;
  x.pointers[lane] = pointer;
  x.pieces = x.pieces?.filter((p) => p.lane !== lane || p.start >= pointer) ?? null;
}

/** A lane's stack pointer as an offset in the window. */
const pointerOf = (x: CallFrame, lane: number): number => x.pointers?.[lane] ?? enteredWith(x, lane);

/** The same when the activation began. */
const enteredWith = (x: CallFrame, lane: number): number =>
  x.caller === null ? emptyPointer : pointerOf(x.caller, lane);

/** Bytes that count against the stack limit, without what the activation has allocated. */
const frameCost = (x: CallFrame): number => (x.caller?.cost ?? 0) + x.code.stackCost + x.unsizedBytes;

/** Where in a lane's memory the frame and what the activation has allocated end. */
function storageEnd(x: CallFrame, lane: number): number {
  const last = x.pieces?.findLast((p) => p.lane === lane);
  return last === undefined ? frameEnd(x.base, x.code, x.unsizedBytes) : last.at + last.end - last.start;
}

/** Throws a fault if lanes need more stack than the limit. */
export function checkStack(x: CallFrame, site: Site, lanes: number, bytes: number): void {
  if (bytes > x.warp.cta.grid.stackLimit) throw stackOverflow({ site, activation: x, lanes });
}

/** Makes the fault for lanes that need more stack than the limit, for a call or for `alloca`. */
export function stackOverflow(at: FaultPlace): Fault {
  const { depth, warp } = at.activation;
  const message = `the stack is full: ${depth + 1} activations, and a thread has ${warp.cta.grid.stackLimit} bytes`;
  return new Fault("stack-overflow", message, at);
}
