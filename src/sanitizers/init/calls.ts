import { lowestLane } from "../../ir/lane-mask.ts";
import type { Argument, Op, Param, Result } from "../../ir/index.ts";
import type { CallEvent } from "../../machine/events.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { Expr } from "../../semantics/index.ts";
import { passFile, returnFile } from "./activation-shadow.ts";
import { isDefined, isWhollyUndefined, type Shade } from "./shade.ts";
import type { InitState } from "./state.ts";

type Call = Extract<Op, { kind: "call" }>;

const shade: Shade = { low: 0, high: 0, origin: 0 };

/** Lanes have entered a function: its registers and variables are unwritten, and its arguments are passed. */
export function enter(state: InitState, y: Activation, mask: number): void {
  const { caller, callSite } = y;
  if (y.within !== null || caller === null || callSite === null) return;
  const { op } = callSite.instruction;
  const shadow = state.shadowOf(y);
  shadow.begin();
  if (op.kind === "file-call") {
    const { grfBytes } = y.code.ir.file!;
    passFile(state.shadowOf(caller), shadow, grfBytes, op.argSize);
    return;
  }
  if (op.kind !== "call") return;
  const { frame, ir } = y.code;
  state.memory.beginFrame(y.warp, y.base, y.base + frame.size + y.unsizedBytes, mask);
  op.args.forEach((arg, i) => {
    const param = ir.params[i];
    if (param !== undefined) pass(state, y, arg, param, mask);
  });
}

const valuesOf = (arg: Exclude<Argument, { kind: "frame" }>): readonly Expr[] =>
  arg.kind === "vector" ? arg.elements : arg.kind === "pair" ? [arg.low, arg.high] : [arg.value];

/** The offset of a frame variable in the lanes' stack. */
const offsetOf = (x: Activation, variable: number): number => x.base + x.code.frame.offsets[variable]!;

/** Passes an argument, which the call reads. */
function pass(state: InitState, y: Activation, arg: Argument, param: Param, mask: number): void {
  const x = y.caller!;
  const site = y.callSite!;
  const { reader, memory } = state;
  const [from, to] = [state.shadowOf(x), state.shadowOf(y)];
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    if (arg.kind === "frame") {
      const size = param.type.unsized ? arg.size : Math.min(arg.size, param.type.size);
      const place = { at: offsetOf(x, arg.variable), size };
      const name = x.code.ir.frame[arg.variable]!.name;
      memory.readFirst(x, lane, place, (doubtful) => state.origins.number(site, x, () => `\`${name}\``, doubtful));
      if (param.storage.kind === "frame")
        memory.copyStack(y.warp, lane, place.at, offsetOf(y, param.storage.variable), size);
      else if (param.storage.kind === "register") {
        param.storage.registers.forEach((register, i) => {
          memory.readStack(y.warp, lane, place.at + 8 * i, Math.min(8, size - 8 * i), shade);
          to.registers.write(register, lane, shade);
        });
      }
      continue;
    }
    reader.at(from, x, lane, mask);
    valuesOf(arg).forEach((value, i) => {
      shade.low = shade.high = shade.origin = 0;
      if (reader.read(value)) {
        [shade.low, shade.high, shade.origin] = [reader.low, reader.high, state.originOf(site, x)];
      }
      if (param.storage.kind === "register") {
        const register = param.storage.registers[i];
        if (register !== undefined) to.registers.write(register, lane, shade);
      } else if (param.storage.kind === "frame") {
        const size = Math.min(param.type.size - 8 * i, 8);
        if (size > 0) memory.writeStack(y.warp, lane, offsetOf(y, param.storage.variable) + 8 * i, size, shade);
      }
    });
  }
}

/** Lanes leave a function. Returning does not read the results: unwritten ones stay unwritten. */
export function leave(state: InitState, y: Activation, mask: number): void {
  const { caller, callSite } = y;
  if (y.within !== null || caller === null || callSite === null) return;
  const { op } = callSite.instruction;
  if (op.kind === "file-call") {
    const { grfBytes } = y.code.ir.file!;
    returnFile(state.shadowOf(y), state.shadowOf(caller), grfBytes, op.retvalSize);
  }
  if (op.kind !== "call") return;
  y.code.ir.returns.forEach((param, i) => {
    const result = op.results[i];
    if (result !== undefined && result.kind !== "discard") giveBack(state, y, param, result, mask);
  });
}

function giveBack(
  state: InitState,
  y: Activation,
  param: Param,
  result: Exclude<Result, { kind: "discard" }>,
  mask: number,
): void {
  const x = y.caller!;
  const { memory } = state;
  const [from, to] = [state.shadowOf(y), state.shadowOf(x)];
  const { storage, type } = param;
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    if (storage.kind === "frame" && result.kind === "frame") {
      const size = Math.min(result.size, type.size);
      memory.copyStack(y.warp, lane, offsetOf(y, storage.variable), offsetOf(x, result.variable), size);
      continue;
    }
    const count =
      storage.kind === "register" ? storage.registers.length : result.kind === "register" ? result.registers.length : 0;
    for (let i = 0; i < count; i++) {
      if (storage.kind === "register") from.registers.read(storage.registers[i]!, lane, shade);
      else if (storage.kind === "frame") {
        memory.readStack(y.warp, lane, offsetOf(y, storage.variable) + 8 * i, Math.min(8, type.size - 8 * i), shade);
      }
      if (result.kind === "register") {
        const register = result.registers[i];
        if (register !== undefined) to.registers.write(register, lane, shade);
      } else {
        const size = Math.min(8, result.size - 8 * i);
        if (size > 0) memory.writeStack(y.warp, lane, offsetOf(x, result.variable) + 8 * i, size, shade);
      }
    }
  }
}

/** A call of a function that the machine provides: its arguments must be defined, and its results are. */
export function callExternal(state: InitState, e: CallEvent): void {
  const { activation: x, site, mask, warp } = e;
  const op = site.instruction.op as Call;
  const { reader, memory } = state;
  const shadow = state.shadowOf(x);
  if (e.callee.ir.name === "malloc") memory.hasHeap = true;
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    reader.at(shadow, x, lane, mask);
    for (const arg of op.args) {
      if (arg.kind === "frame") {
        const size = Math.min(8, arg.size);
        memory.readStack(warp, lane, offsetOf(x, arg.variable), size, shade);
        if (isDefined(shade) || !isWhollyUndefined(shade, size * 8)) continue;
        const name = x.code.ir.frame[arg.variable]!.name;
        const origin = shade.origin || state.origins.number(site, x, () => `\`${name}\``);
        state.matters({ ...e, mask: 1 << lane }, origin, `an argument of \`${e.callee.ir.name}\``);
        continue;
      }
      for (const value of valuesOf(arg)) {
        if (!reader.read(value)) continue;
        state.matters({ ...e, mask: 1 << lane }, state.originOf(site, x), `an argument of \`${e.callee.ir.name}\``);
      }
    }
  }
  for (const result of op.results) {
    if (result.kind === "register") for (const register of result.registers) shadow.registers.define(register, mask);
    else if (result.kind === "frame") memory.defineStack(warp, offsetOf(x, result.variable), result.size, mask);
  }
}
