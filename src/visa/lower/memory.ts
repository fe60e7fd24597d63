import { blockSlots, channelSlots, dwordBytes, elementSlots, owordBytes, withoutLeadingGap } from "../access-slots.ts";
import type { MemoryAction } from "../isa/memory-action.ts";
import type { Instruction } from "../tree.ts";
import { lowerAtomic } from "./atomic.ts";
import { lowerBarrier } from "./barrier.ts";
import { lowerMatrixBlock } from "./block.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { choiceOf, has, once, rawOf } from "../instruction-operands.ts";
import { lowerLscAccess, lowerLscAtomic } from "./lsc.ts";
import { locationAfter } from "./memory-location.ts";
import { locationOf } from "./operand-location.ts";
import { load, store, type Transfer } from "./transfer.ts";

/** Lowers a row's `MemoryAction` to loads, stores, atomic operations, barriers and fences. */
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
    case "matrix-block":
      return lowerMatrixBlock(context, instruction, action.access);
    case "barrier":
      return lowerBarrier(context, instruction, action);
    case "fence":
      return [{ op: { kind: "fence", scope: action.scope === "group" ? "cta" : "gpu", order: "sc" }, dst: [] }];
    case "nothing":
      return [{ op: { kind: "nothing" }, dst: [] }];
  }
};

type Action<Kind extends MemoryAction["kind"]> = Extract<MemoryAction, { kind: Kind }>;

/** A load into `dst`, or a store from `src`. */
function move(context: LowerContext, instruction: Instruction, t: Omit<Transfer, "registers">): Lowered {
  return has(instruction, "dst")
    ? load(context, { ...t, registers: rawOf(instruction, "dst") })
    : store(context, { ...t, registers: rawOf(instruction, "src") });
}

/** A block, which one lane moves. */
function block(context: LowerContext, instruction: Instruction, { unit }: Action<"block">): Lowered {
  // Unless the text says otherwise, an address need not be aligned to more than a dword.
  const aligned =
    unit === owordBytes || (has(instruction, "alignment") && choiceOf(instruction, "alignment") === "aligned");
  const lowered = move(context, instruction, {
    ...blockSlots(instruction),
    location: locationOf(context, instruction, once, unit),
    align: aligned ? owordBytes : dwordBytes,
    exec: once,
  });
  return { ...lowered, lanes: { first: 0, count: 1, noMask: true, uniform: false } };
}

/** Elements of each lane. The rest of a slot is left as it is; the pages say that it is undefined. */
function elements(context: LowerContext, instruction: Instruction, action: Action<"elements">): Lowered {
  const exec = instruction.exec ?? once;
  const slots = elementSlots(instruction, action);
  const bytes = slots.bits / 8;
  const location = locationOf(context, instruction, exec, action.scaled ? bytes : 1);
  return move(context, instruction, { ...slots, location, align: action.unaligned ? 1 : bytes, exec });
}

function channels(context: LowerContext, instruction: Instruction): Lowered {
  const exec = instruction.exec ?? once;
  const { skip, rest } = withoutLeadingGap(channelSlots(instruction, context.routine.grfBytes));
  const location = locationOf(context, instruction, exec, 1);
  return move(context, instruction, {
    ...rest,
    location: locationAfter(location, skip),
    align: dwordBytes,
    exec,
  });
}
