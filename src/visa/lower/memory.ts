import { kit as k } from "../../semantics/index.ts";
import type { MemoryAction } from "../isa/memory-action.ts";
import type { Instruction } from "../tree.ts";
import { lowerAtomic } from "./atomic.ts";
import { lowerBarrier } from "./barrier.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { choiceOf, has, numberChoiceOf, once, rawOf } from "./instruction-operands.ts";
import { lowerLscAccess, lowerLscAtomic } from "./lsc.ts";
import { placeOf } from "./operand-place.ts";
import { load, type Slot, store, type Transfer } from "./transfer.ts";

/** Turns what a row's `MemoryAction` says into loads, stores, atomic operations, barriers and fences. */
export const lowerMemory: LowerInstruction = (context, instruction) => {
  const { execution, mnemonic } = instruction.row;
  if (execution.kind !== "memory") throw new Error(`${mnemonic} does not access memory`);
  const { action } = execution;
  switch (action.kind) {
    case "block":
      return [block(context, instruction, action)];
    case "elements":
      return [elements(context, instruction, action)];
    case "channels":
      return [channels(context, instruction)];
    case "atomic":
      return lowerAtomic(context, instruction);
    case "lsc-access":
      return lowerLscAccess(context, instruction, action);
    case "lsc-atomic":
      return lowerLscAtomic(context, instruction, action);
    case "barrier":
      return lowerBarrier(context, instruction, action);
    case "fence":
      return [{ op: { kind: "fence", scope: action.scope === "group" ? "cta" : "gpu", order: "sc" }, dst: [] }];
    case "nothing":
      return [{ op: { kind: "nothing" }, dst: [] }];
  }
};

type Action<Kind extends MemoryAction["kind"]> = Extract<MemoryAction, { kind: Kind }>;

/** Into `dst`, or from `src`. */
function move(context: LowerContext, instruction: Instruction, t: Omit<Transfer, "registers">): Lowered {
  return has(instruction, "dst")
    ? load(context, { ...t, registers: rawOf(instruction, "dst") })
    : store(context, { ...t, registers: rawOf(instruction, "src") });
}

const owordBytes = 16;
const dwordBytes = 4;

/** One lane moves all of it, so that the whole block is one access. */
function block(context: LowerContext, instruction: Instruction, { unit }: Action<"block">): Lowered {
  const dwords = (numberChoiceOf(instruction, "owords") * owordBytes) / dwordBytes;
  // Where the text says nothing of it, an address need not be aligned to more than a dword.
  const aligned =
    unit === owordBytes || (has(instruction, "alignment") && choiceOf(instruction, "alignment") === "aligned");
  const lowered = move(context, instruction, {
    place: placeOf(context, instruction, once, unit),
    bits: 32,
    align: aligned ? owordBytes : dwordBytes,
    slots: Array.from({ length: dwords }, (_, i): Slot => ({ at: i * dwordBytes, stride: 0 })),
    exec: once,
  });
  return { ...lowered, lanes: { first: 0, count: 1, noMask: true, uniform: false } };
}

/**
 * Several bytes a lane lie in a slot of at least a dword; other elements in rows, an element of each lane to a row. What is
 * left of a slot stays as it is: the pages say that it is undefined.
 */
function elements(context: LowerContext, instruction: Instruction, action: Action<"elements">): Lowered {
  const exec = instruction.exec ?? once;
  const bytes = action.size ?? numberChoiceOf(instruction, "bytes");
  const count = has(instruction, "count") ? numberChoiceOf(instruction, "count") : 1;
  const stride = Math.max(dwordBytes, bytes === 1 ? count : bytes);
  const row = bytes === 1 ? 1 : exec.size * bytes;
  return move(context, instruction, {
    place: placeOf(context, instruction, exec, action.scaled ? bytes : 1),
    bits: (bytes * 8) as Transfer["bits"],
    align: action.unaligned ? 1 : bytes,
    slots: Array.from({ length: count }, (_, i): Slot => ({ at: i * row, stride })),
    exec,
  });
}

/** What is enabled of R, G, B and A lies in registers one channel behind the other, each from a register on. */
function channels(context: LowerContext, instruction: Instruction): Lowered {
  const exec = instruction.exec ?? once;
  const channelBytes = Math.max(exec.size * dwordBytes, context.routine.grfBytes);
  const enabled = choiceOf(instruction, "channels");
  const first = "RGBA".indexOf(enabled[0]!);
  const last = "RGBA".indexOf(enabled.at(-1)!);
  const slots = [..."RGBA".slice(first, last + 1)].map((channel): Slot | null => {
    const slot = enabled.indexOf(channel);
    return slot < 0 ? null : { at: slot * channelBytes, stride: dwordBytes };
  });
  const place = placeOf(context, instruction, exec, 1);
  return move(context, instruction, {
    place: { ...place, address: k.add(place.address, k.int(place.address, first * dwordBytes)) },
    bits: 32,
    align: dwordBytes,
    slots,
    exec,
  });
}
