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

/** A call of `alloca` in one lane. */
interface PieceRequest {
  readonly site: Site;
  readonly lane: number;
  readonly bytes: number;
  /** Values below 8 count as 8. */
  readonly align: number;
}

/**
 * Allocates bytes on a lane's stack and returns their address. Adding them to the frame's cost is up to the caller,
 * once all lanes have theirs. Throws a fault if the stack is full.
 */
export function takePiece(x: CallFrame, { site, lane, bytes, align }: PieceRequest): number {
  const tops = (x.tops ??= new Int32Array(32).fill(x.top));
  const unit = Math.max(align, 8);
  const start = Math.ceil((tops[lane]! + 16) / unit) * unit;
  const end = start + bytes;
  checkStack(x, site, 1 << lane, end - x.top + x.cost);
  x.warp.stack.reserve(end);
  x.warp.stack.clear(start, end, 1 << lane);
  (x.pieces ??= []).push({ lane, start, end });
  tops[lane] = end;
  x.top = Math.max(x.top, end);
  return windows.local.start + start;
}

/** The first address above the part of the stack that a lane uses. */
export const stackTop = (x: CallFrame, lane: number): number => windows.local.start + (x.tops?.[lane] ?? x.top);

/** Frees everything that a lane has allocated on its stack from an address upwards. */
export function restoreStack(x: CallFrame, lane: number, address: number): void {
  const top = address - windows.local.start;
  if (x.tops === null || top > x.tops[lane]! || top < x.base) return;
  x.tops[lane] = top;
  x.pieces = x.pieces?.filter((p) => p.lane !== lane || p.end <= top) ?? null;
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
