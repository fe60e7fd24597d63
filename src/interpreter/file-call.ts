import { argAt, argRegisters, type ByteFile, type Op, retvalAt, retvalRegisters } from "../ir/index.ts";
import { Activation } from "../machine/activation.ts";
import type { Site, Terminator } from "../machine/code.ts";
import { Fault } from "../machine/fault.ts";
import { makeFileResolver } from "./call-target.ts";
import { enter, operandLanes } from "./control.ts";
import type { Decoding, Flow } from "./decode.ts";
import type { LoadedFunction } from "./loaded-function.ts";

type FileCall = Extract<Op, { kind: "file-call" }>;

/** Activations of a thread at once: what stands for the end of a stack that lies in registers. */
const mostActivations = 1024;
/** Bytes of the byte files that they have together. */
const mostFileBytes = 64 * 2 ** 20;

/** vISA's fcall and ifcall: one callee for all lanes, with a byte file of its own. */
export function makeFileCall(d: Decoding, { next }: Flow, op: FileCall): Terminator {
  const { site, guard, operands } = d;
  const resolve = makeFileResolver(d, op.target);
  const { prepare } = operands;
  return {
    site,
    guard,
    run: (warp, group) => {
      const x = group.activation;
      const whole = group.mask;
      const lanes = enter(guard, next, warp, group);
      if (lanes === 0) return;
      const asked = operandLanes(guard, lanes);
      prepare(x, asked);
      const callee = resolve(x, asked, lanes);
      checkSizes(op, callee, x, site, lanes);
      const cost = x.cost + callee.ir.file!.bytes;
      checkDepth(x, site, lanes, cost);
      warp.cta.grid.observers?.emit("call", {
        warp,
        activation: x,
        site,
        mask: lanes,
        group: whole,
        callee,
        uniform: false,
      });
      const y = Activation.enter(callee, warp, lanes);
      y.base = y.top = x.top;
      y.cost = cost;
      y.onReturn = giveBack;
      pass(x, y, op);
      if (op.allLanes) warp.callAll(group, y, callee.entry, site, next);
      else warp.call(group, y, callee.entry, lanes, site, next);
      warp.cta.grid.observers?.emit("enter", { warp, activation: y, mask: y.live });
    },
  };
}

/** A subroutine has the registers and the byte file of the function around it. */
export function makeSubroutineCall(
  { site, guard }: Decoding,
  { next, blockAt }: Flow,
  op: Extract<Op, { kind: "subroutine-call" }>,
): Terminator {
  const target = blockAt(op.target);
  return {
    site,
    guard,
    run: (warp, group) => {
      const x = group.activation;
      const lanes = enter(guard, next, warp, group);
      if (lanes === 0) return;
      checkDepth(x, site, lanes, x.cost);
      const y = Activation.enterWithin(x, lanes);
      y.cost = x.cost;
      if (op.allLanes) warp.callAll(group, y, target, site, next);
      else warp.call(group, y, target, lanes, site, next);
      warp.cta.grid.observers?.emit("enter", { warp, activation: y, mask: y.live });
    },
  };
}

function checkDepth(activation: Activation, site: Site, lanes: number, fileBytes: number): void {
  const full =
    activation.depth + 1 >= mostActivations
      ? `${mostActivations} activations`
      : fileBytes > mostFileBytes
        ? `its ${activation.depth + 2} activations would have ${fileBytes} bytes of variables`
        : null;
  if (full === null) return;
  const message = `the stack is full: ${full}`;
  throw new Fault("stack-overflow", message, { site, activation, lanes });
}

function checkSizes(op: FileCall, { ir }: LoadedFunction, activation: Activation, site: Site, lanes: number): void {
  const { argSize, retvalSize } = ir.file!;
  if ((argSize ?? op.argSize) === op.argSize && (retvalSize ?? op.retvalSize) === op.retvalSize) return;
  const passed = `passes ${op.argSize} registers and takes ${op.retvalSize} back`;
  const declared = `ArgSize ${argSize ?? "as it likes"} and RetValSize ${retvalSize ?? "as it likes"}`;
  const message = `the call ${passed}, and \`${ir.name}\` declares ${declared}`;
  throw new Fault("call-size-mismatch", message, { site, activation, lanes });
}

/**
 * The thread's part, the arguments, and all of %retval: a lane that has its result from an earlier call, and does not take
 * part in this one, finds it there afterwards. The call destroys %arg.
 */
function pass(x: Activation, y: Activation, { argSize }: FileCall): void {
  const { grfBytes } = y.code.ir.file!;
  copy(x, y, 0, argAt);
  copy(x, y, argAt, Math.min(argSize, argRegisters) * grfBytes);
  copy(x, y, retvalAt(grfBytes), retvalRegisters * grfBytes);
  const from = (x.code.byteFileAt + argAt) >> 2;
  x.i32.fill(0, from, from + ((argRegisters * grfBytes) >> 2));
}

/** With the last lanes: what the thread's part is before, the others still change. */
function giveBack(y: Activation, lanes: number): void {
  if (y.live !== lanes) return;
  const { op } = y.callSite!.instruction;
  const { grfBytes }: ByteFile = y.code.ir.file!;
  const results = op.kind === "file-call" ? Math.min(op.retvalSize, retvalRegisters) : 0;
  copy(y, y.caller!, 0, argAt);
  copy(y, y.caller!, retvalAt(grfBytes), results * grfBytes);
}

/** Copies bytes that have the same place in both files; a loop over so few words is faster than a call that does it. */
function copy(from: Activation, to: Activation, at: number, bytes: number): void {
  const [source, target] = [from.i32, to.i32];
  const start = (from.code.byteFileAt + at) >> 2;
  const shift = (to.code.byteFileAt - from.code.byteFileAt) >> 2;
  for (let w = start; w < start + (bytes >> 2); w++) target[w + shift] = source[w]!;
}
