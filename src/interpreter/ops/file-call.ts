import { emit } from "../../machine/events.ts";
import { argAt, argRegisters, type Op, retvalAt, retvalRegisters } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { enterFunction, enterSubroutine } from "../../machine/state/activation.ts";
import type { Activation, Terminator } from "../../machine/state/launch-state.ts";
import type { PassedParts } from "../../machine/state/register-views.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import type { DecodedFunction } from "../compile/decoded-function.ts";
import { checkSizes } from "../../program/call-targets.ts";
import { makeFileResolver } from "./call-target.ts";
import { operandLanes, whereGuardHolds } from "./control.ts";

type FileCall = Extract<Op, { kind: "file-call" }>;

/** The most activations of a thread at once: registers have no stack that could overflow. */
const maxActivations = 16_384;

/** The most bytes that the activations of all threads of a launch may take, as threads recurse side by side. */
const maxBytes = 2 ** 29;

/** Bytes of an activation besides its file: the object and its views. */
const activationBytes = 2048;

/** vISA's fcall and ifcall: one callee for all lanes, with a byte file of its own. */
export function makeFileCall(d: Decoding, flow: Flow, op: FileCall): Terminator {
  const { next } = flow;
  const { site, guard, operands } = d;
  const resolve = makeFileResolver(d, op.target);
  const { prepare } = operands;
  return whereGuardHolds(d, flow, (warp, group, lanes, whole) => {
    const x = group.activation;
    const deciding = operandLanes(guard, lanes);
    prepare(x, deciding);
    const callee = resolve(x, deciding, lanes);
    checkSizes(op, callee, { site, activation: x, lanes });
    checkDepth(x, site, lanes);
    if (callee.pool.length === 0) takeMemory(callee, x, site, lanes);
    const { observers } = warp.cta.grid;
    if (observers !== null)
      emit(observers, "call", {
        warp,
        activation: x,
        site,
        mask: lanes,
        group: whole,
        callee,
        uniform: false,
      });
    const y = enterFunction(callee, warp, lanes);
    y.base = y.top = x.top;
    y.onReturn = giveBack;
    pass(x, y, op);
    if (op.allLanes) warp.callAll(group, y, callee.entry, site, next);
    else warp.call(group, y, callee.entry, lanes, site, next);
    if (observers !== null) emit(observers, "enter", { warp, activation: y, mask: y.live });
  });
}

/** A subroutine has the registers and the byte file of the function around it. */
export function makeSubroutineCall(d: Decoding, flow: Flow, op: Extract<Op, { kind: "subroutine-call" }>): Terminator {
  const { site } = d;
  const { next } = flow;
  const target = flow.blockAt(op.target);
  return whereGuardHolds(d, flow, (warp, group, lanes) => {
    const x = group.activation;
    checkDepth(x, site, lanes);
    const y = enterSubroutine(x, lanes);
    if (op.allLanes) warp.callAll(group, y, target, site, next);
    else warp.call(group, y, target, lanes, site, next);
    const { observers } = warp.cta.grid;
    if (observers !== null) emit(observers, "enter", { warp, activation: y, mask: y.live });
  });
}

function checkDepth(activation: Activation, site: Site, lanes: number): void {
  if (activation.depth + 1 < maxActivations) return;
  const message = `the stack is full: ${maxActivations} activations`;
  throw new Fault("stack-overflow", message, { site, activation, lanes });
}

/** Counts the memory of an activation that is new, none being there to use again. */
function takeMemory(callee: DecodedFunction, activation: Activation, site: Site, lanes: number): void {
  const { grid } = activation.warp.cta;
  grid.activationBytes += callee.fileBytes + activationBytes;
  if (grid.activationBytes <= maxBytes) return;
  const depth = `${activation.depth + 2} activations of this thread, and those of the others`;
  const message = `the stack is full: ${depth}, would have ${grid.activationBytes} bytes of variables`;
  throw new Fault("stack-overflow", message, { site, activation, lanes });
}

/**
 * Copies the thread's part, the arguments, and all of %retval into the callee: a lane that has its result from an
 * earlier call, and does not take part in this one, finds it there afterwards. The call destroys %arg.
 */
function pass(x: Activation, y: Activation, { argSize }: FileCall): void {
  const [from, to] = [passedOf(x), passedOf(y)];
  to.thread.set(from.thread);
  copy(from.arg, to.arg, argSize * wordsOf(y));
  if (from.retval.length === to.retval.length) to.retval.set(from.retval);
  else copy(from.retval, to.retval, from.retval.length);
  from.arg.fill(0);
}

/** Copies the thread's part and the results back when the last lanes return: before that, others still change them. */
function giveBack(y: Activation, lanes: number): void {
  if (y.live !== lanes) return;
  const { op } = y.callSite!.instruction;
  const [from, to] = [passedOf(y), passedOf(y.caller!)];
  to.thread.set(from.thread);
  if (op.kind === "file-call") copy(from.retval, to.retval, op.retvalSize * wordsOf(y));
}

/** 32-bit words of a register. */
const wordsOf = (x: Activation): number => x.code.ir.file!.grfBytes >> 2;

/** Copies words, as many as both sides have; for so few a loop is faster than a call of `set`. */
function copy(from: Int32Array, to: Int32Array, words: number): void {
  const end = Math.min(words, from.length, to.length);
  for (let w = 0; w < end; w++) to[w] = from[w]!;
}

/** The parts of an activation's byte file that calls copy; a subroutine has the file of the function around it. */
function passedOf(x: Activation): PassedParts {
  if (x.within !== null) return passedOf(x.within);
  if (x.passed === null) {
    const { grfBytes } = x.code.ir.file!;
    const part = (at: number, bytes: number): Int32Array =>
      new Int32Array(x.file.buffer, x.file.byteOffset + at, bytes >> 2);
    x.passed = {
      thread: part(0, argAt),
      arg: part(argAt, argRegisters * grfBytes),
      retval: part(retvalAt(grfBytes), retvalRegisters * grfBytes),
    };
  }
  return x.passed;
}
