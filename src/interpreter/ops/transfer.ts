import { lowestLane } from "../../ir/lane-mask.ts";
import { valuesOf } from "../../ir/flow/accesses.ts";
import type { Argument, Param, Result } from "../../ir/index.ts";
import { readElement, writeElement } from "../../machine/memory/views.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { DecodedFunction } from "../compile/decoded-function.ts";
import type { Operands } from "../compile/operand.ts";
import type { Slot } from "../compile/register-file.ts";

/**
 * Place of a value that a call passes: registers (two for 128 bits, one for each element of a vector), or the frame.
 */
export type Location =
  | { readonly kind: "registers"; readonly slots: readonly Slot[] }
  | { readonly kind: "frame"; readonly offset: number; readonly size: number };

/** Copies between two activations, in the lanes of the mask. */
export type Transfer = (from: Activation, to: Activation, mask: number) => void;

export function locationOfParam(code: DecodedFunction, param: Param, size: number): Location {
  const { storage } = param;
  if (storage.kind === "register") return { kind: "registers", slots: storage.registers.map((r) => code.file.slot(r)) };
  if (storage.kind === "frame") return { kind: "frame", offset: code.frame.offsets[storage.variable]!, size };
  throw new Error(`the kernel parameter ${param.name} is not for calls`);
}

export function locationOfArgument(code: DecodedFunction, arg: Argument, operands: Operands): Location {
  if (arg.kind === "frame") return { kind: "frame", offset: code.frame.offsets[arg.variable]!, size: arg.size };
  return { kind: "registers", slots: valuesOf(arg).map((v) => operands.slot(v)) };
}

export function locationOfResult(code: DecodedFunction, result: Result): Location | null {
  if (result.kind === "discard") return null;
  if (result.kind === "frame")
    return { kind: "frame", offset: code.frame.offsets[result.variable]!, size: result.size };
  return { kind: "registers", slots: result.registers.map((r) => code.file.slot(r)) };
}

export function transfer(from: Location, to: Location): Transfer {
  if (from.kind === "registers") {
    const moves = from.slots.flatMap((slot, i) => {
      if (to.kind === "frame") return [registerToFrame(slot, to.offset + i * 8, Math.min(to.size - i * 8, 8))];
      const target = to.slots[i];
      return target === undefined ? [] : [registerToRegister(slot, target)];
    });
    return all(moves);
  }
  if (to.kind === "frame") return frameToFrame(from.offset, to.offset, Math.min(from.size, to.size));
  return all(to.slots.map((slot, i) => frameToRegister(from.offset + i * 8, Math.min(from.size - i * 8, 8), slot)));
}

const all = (moves: readonly Transfer[]): Transfer =>
  moves.length === 1
    ? moves[0]!
    : (from, to, mask) => {
        for (const move of moves) move(from, to, mask);
      };

const narrowing = (slot: Slot): number => (slot.bits < 32 ? 2 ** slot.bits - 1 : -1);

function registerToRegister(from: Slot, to: Slot): Transfer {
  if (to.class === "pred") {
    return (x, y, mask) => {
      y.i32[to.base] = (y.i32[to.base]! & ~mask) | (x.i32[from.base]! & mask);
    };
  }
  if (from.class === "b64" && to.class === "b64") {
    return (x, y, mask) => {
      for (let m = mask; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        y.i64[to.base + lane] = x.i64[from.base + lane]!;
      }
    };
  }
  const keep = narrowing(to);
  return (x, y, mask) => {
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const value = readRegister(x, from, lane);
      if (to.class === "b64") y.i64[to.base + lane] = BigInt.asIntN(64, value);
      else y.i32[to.base + lane] = Number(BigInt.asIntN(32, value)) & keep;
    }
  };
}

function registerToFrame(from: Slot, offset: number, size: number): Transfer {
  const bits = Math.min(size, from.class === "b64" ? 8 : 4) * 8;
  return (x, y, mask) => {
    const { views, stride } = y.warp.stack;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const at = y.base + offset + lane * stride;
      const value =
        bits === 64
          ? x.i64[from.base + lane]!
          : x.i32[from.class === "b64" ? 2 * (from.base + lane) : from.base + lane]!;
      writeElement(views, at, bits, value);
    }
  };
}

function frameToRegister(offset: number, size: number, to: Slot): Transfer {
  const bits = Math.min(size, to.class === "b64" ? 8 : 4) * 8;
  const keep = narrowing(to);
  return (x, y, mask) => {
    const { views, stride } = x.warp.stack;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const value = readElement(views, x.base + offset + lane * stride, bits, false);
      if (to.class === "b64") y.i64[to.base + lane] = typeof value === "bigint" ? value : BigInt(value >>> 0);
      else y.i32[to.base + lane] = (value as number) & keep;
    }
  };
}

function frameToFrame(from: number, to: number, size: number): Transfer {
  return (x, y, mask) => x.warp.stack.copy(x.base + from, y.base + to, size, mask);
}

/** A register's bits, unsigned. */
function readRegister(x: Activation, slot: Slot, lane: number): bigint {
  if (slot.class === "b64") return BigInt.asUintN(64, x.i64[slot.base + lane]!);
  if (slot.class === "pred") return BigInt((x.i32[slot.base]! >>> lane) & 1);
  return BigInt(x.i32[slot.base + lane]! >>> 0);
}

/** The (at most eight) bytes at a location, as an unsigned number. */
export function readLocation(x: Activation, location: Location, lane: number): bigint {
  if (location.kind === "registers") return readRegister(x, location.slots[0]!, lane);
  const { views, stride } = x.warp.stack;
  let value = 0n;
  for (let i = Math.min(location.size, 8) - 1; i >= 0; i--) {
    value = (value << 8n) | BigInt(views.u8[x.base + location.offset + lane * stride + i]!);
  }
  return value;
}

export function writeLocation(x: Activation, location: Location, lane: number, value: bigint): void {
  if (location.kind === "frame") {
    const { views, stride } = x.warp.stack;
    for (let i = 0; i < Math.min(location.size, 8); i++) {
      views.u8[x.base + location.offset + lane * stride + i] = Number((value >> BigInt(8 * i)) & 0xffn);
    }
    return;
  }
  const slot = location.slots[0];
  if (slot?.class === "b64") x.i64[slot.base + lane] = value;
  else if (slot?.class === "b32") x.i32[slot.base + lane] = Number(BigInt.asIntN(32, value)) & narrowing(slot);
}
