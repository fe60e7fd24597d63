import { eachLane } from "../../ir/lane-mask.ts";
import { type Op, windows } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { Activation, CallFrame } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import type { Slot } from "../compile/register-file.ts";

/** Section 9.7.17.3. The piece is the lane's own; it ends with the activation. */
export function makeAlloca(d: Decoding, op: Extract<Op, { kind: "alloca" }>): Run {
  const size = d.operands.slot(op.size);
  const { prepare } = d.operands;
  const [to] = d.results;
  return (x, mask) => {
    prepare(x, mask);
    eachLane(mask, (lane) => {
      const bytes =
        size.class === "b64" ? Number(BigInt.asUintN(64, x.i64[size.base + lane]!)) : x.i32[size.base + lane]! >>> 0;
      const address = takePiece(x, d.site, lane, bytes, op.align);
      if (to) writeAddress(x, to, lane, address);
    });
    x.cost = Math.max(x.cost, x.top);
  };
}

/** Takes bytes of a lane's stack: their address. What they cost is for the caller to note, when all lanes have theirs. */
export function takePiece(x: CallFrame, site: Site, lane: number, bytes: number, least: number): number {
  const tops = (x.tops ??= new Int32Array(32).fill(x.top));
  const align = Math.max(least, 8);
  const start = Math.ceil((tops[lane]! + 16) / align) * align;
  const end = start + bytes;
  checkStack(x, site, 1 << lane, end - x.top + x.cost);
  x.warp.stack.reserve(end);
  x.warp.stack.clear(start, end, 1 << lane);
  (x.pieces ??= []).push({ lane, start, end });
  tops[lane] = end;
  x.top = Math.max(x.top, end);
  return windows.local.start + start;
}

export function makeStackSave(d: Decoding): Run {
  const [to] = d.results;
  return (x, mask) => {
    if (!to) return;
    eachLane(mask, (lane) => {
      writeAddress(x, to, lane, stackTop(x, lane));
    });
  };
}

/** The address behind what a lane uses of its stack. */
export const stackTop = (x: CallFrame, lane: number): number => windows.local.start + (x.tops?.[lane] ?? x.top);

/** Gives back what the lane took since the matching `stacksave`. */
export function makeStackRestore(d: Decoding, op: Extract<Op, { kind: "stack-restore" }>): Run {
  const value = d.operands.slot(op.value);
  const { prepare } = d.operands;
  return (x, mask) => {
    prepare(x, mask);
    eachLane(mask, (lane) => {
      const low = x.i32[value.class === "b64" ? (value.base + lane) * 2 : value.base + lane]! >>> 0;
      restoreStack(x, lane, low);
    });
  };
}

/** What a lane has taken of its stack behind an address is given back. */
export function restoreStack(x: CallFrame, lane: number, address: number): void {
  const top = address - windows.local.start;
  if (x.tops === null || top > x.tops[lane]! || top < x.base) return;
  x.tops[lane] = top;
  x.pieces = x.pieces?.filter((p) => p.lane !== lane || p.end <= top) ?? null;
}

function writeAddress(x: Activation, to: Slot, lane: number, address: number): void {
  if (to.class === "b64") x.i64[to.base + lane] = BigInt(address);
  else x.i32[to.base + lane] = address;
}

/** Ends the launch when lanes need more stack than there is. */
export function checkStack(x: CallFrame, site: Site, lanes: number, bytes: number): void {
  if (bytes > x.warp.cta.grid.stackLimit) throw stackOverflow({ site, activation: x, lanes });
}

/** Lanes need more stack than there is, for a call or for what they ask for. */
export function stackOverflow(at: {
  readonly site: Site;
  readonly activation: CallFrame;
  readonly lanes: number;
}): Fault {
  const { depth, warp } = at.activation;
  const message = `the stack is full: ${depth + 1} activations, and a thread has ${warp.cta.grid.stackLimit} bytes`;
  return new Fault("stack-overflow", message, at);
}
